"""What Python, NumPy, copy and pickle ask of a tensor, in terms of its methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from raxis.layout import Layout
from raxis.ops.methods import TensorMethods

if TYPE_CHECKING:
    import numpy as np

    from raxis.tensor import Tensor


def _only_element(tensor: Protocols) -> Any:
    if tensor._layout.numel != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return tensor.item()


def _real(value: Any, name: str) -> Any:
    """The number, without an imaginary part of zero."""
    if not isinstance(value, complex):
        return value
    if value.imag:
        raise RuntimeError(f"value cannot be converted to type {name} without overflow: {value} is not real")
    return value.real


class Protocols(TensorMethods):
    """Base of Tensor: conversions to Python numbers and arrays, printing, copying and pickling."""

    _layout: Layout
    _edge: Any

    def __bool__(self) -> bool:
        count = self._layout.numel
        if count != 1:
            what = "no values" if count == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self.item())

    def __int__(self) -> int:
        return int(_real(_only_element(self), "int64"))

    def __float__(self) -> float:
        value = _only_element(self)
        return value if type(value) is float else float(_real(value, "double"))

    def __complex__(self) -> complex:
        return complex(_only_element(self))

    def __index__(self) -> int:
        value = self.item() if self._layout.numel == 1 else None
        if not isinstance(value, int):
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(value)

    def __format__(self, specification: str) -> str:
        from raxis.tensor import Tensor, View

        if self._layout.ndim == 0 and self._layout.device.type != "meta" and type(self) in (Tensor, View):
            return format(self.item(), specification)
        return object.__format__(self, specification)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array: np.ndarray = self.numpy()
        if copy is False and dtype is not None and array.dtype != dtype:
            raise ValueError(
                "a copy is needed to convert the tensor to this dtype, but copy=False was given."
            )
        if dtype is not None:
            return array.astype(dtype, copy=bool(copy))
        return array.copy() if copy else array

    def __array_wrap__(self, array: np.ndarray, context: Any = None, return_scalar: bool = False) -> Tensor:
        """What NumPy's functions return for tensors: tensors."""
        import numpy as np

        from raxis.interop import share

        return share(np.asarray(array))

    def __contains__(self, element: Any) -> bool:
        from raxis.ops.arguments import is_number

        if not isinstance(element, Protocols) and not is_number(element):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
            )
        return bool((self == element).any())

    def __reversed__(self) -> Tensor:
        if self._layout.ndim == 0:
            return cast("Tensor", self)
        return self.flip(0)

    def __dlpack__(self, **options: Any) -> Any:
        if self._edge is not None:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.detach().numpy().__dlpack_device__()

    def __repr__(self) -> str:
        from raxis.printing import tensor_text

        return tensor_text(cast("Tensor", self))

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        from raxis.copying import deep_copy

        return deep_copy(cast("Tensor", self), memo)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        from raxis.copying import reduce_tensor

        return reduce_tensor(cast("Tensor", self))
