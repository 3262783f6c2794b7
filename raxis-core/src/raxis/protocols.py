"""What Python, NumPy, copy and pickle ask of a tensor, in terms of its methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from raxis.tensor import Tensor


def _only_element(tensor: Tensor) -> Any:
    if tensor._layout.numel != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return tensor.item()


class Protocols:
    """Base of Tensor: conversions to Python numbers and arrays, printing, copying and pickling."""

    def __bool__(self: Tensor) -> bool:
        count = self._layout.numel
        if count != 1:
            what = "no values" if count == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self.item())

    def __int__(self: Tensor) -> int:
        return int(_only_element(self))

    def __float__(self: Tensor) -> float:
        return float(_only_element(self))

    def __complex__(self: Tensor) -> complex:
        return complex(_only_element(self))

    def __index__(self: Tensor) -> int:
        value = self.item() if self._layout.numel == 1 else None
        if not isinstance(value, int):
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(value)

    def __format__(self: Tensor, specification: str) -> str:
        from raxis.tensor import Tensor, View

        if self._layout.ndim == 0 and self._layout.device.type != "meta" and type(self) in (Tensor, View):
            return format(self.item(), specification)
        return object.__format__(self, specification)

    def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        if copy is False and dtype is not None and array.dtype != dtype:
            raise ValueError(
                "a copy is needed to convert the tensor to this dtype, but copy=False was given."
            )
        if dtype is not None:
            return array.astype(dtype, copy=bool(copy))
        return array.copy() if copy else array

    def __dlpack__(self: Tensor, **options: Any) -> Any:
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self: Tensor) -> tuple[int, int]:
        device: tuple[int, int] = self.detach().numpy().__dlpack_device__()
        return device

    def __repr__(self: Tensor) -> str:
        from raxis.printing import tensor_text

        return tensor_text(self)

    def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
        from raxis.copying import deep_copy

        return deep_copy(self, memo)

    def __reduce_ex__(self: Tensor, protocol: Any) -> tuple[Any, ...]:
        from raxis.copying import reduce_tensor

        return reduce_tensor(self)
