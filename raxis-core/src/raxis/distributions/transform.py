"""The base of transforms, their inverses and compositions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import raxis
from raxis.distributions import constraints
from raxis.distributions.constraints import Constraint
from raxis.distributions.utils import sum_rightmost
from raxis.size import Size
from raxis.tensor import Tensor

__all__ = ["ComposeTransform", "IndependentTransform", "ReshapeTransform", "Transform", "identity_transform"]


class Transform:
    """A differentiable function from a region, its domain, into another, its codomain.

    Args:
        cache_size: 1: remember the last argument and result, so that the inverse of the result is that argument.

    Raises:
        ValueError: for other cache sizes.
    """

    bijective: bool = False
    """Whether every value of the codomain has exactly one argument."""
    domain: Any = constraints.real
    codomain: Any = constraints.real
    _parameters: tuple[str, ...] = ()
    """Attributes in which equal transforms agree."""

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"cache_size must be 0 or 1, but got {cache_size}.")
        self._cache_size = cache_size
        self._last: tuple[Any, Any] = (None, None)

    @property
    def event_dim(self) -> int:
        """The number of dimensions of an event that both domain and codomain have.

        Raises:
            ValueError: if they have different ones.
        """
        if self.domain.event_dim == self.codomain.event_dim:
            return int(self.domain.event_dim)
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def sign(self) -> Any:
        """The sign of the derivative, where it is the same everywhere: 1, -1, or a tensor of them.

        Raises:
            NotImplementedError: if it is not.
        """
        raise NotImplementedError(f"{type(self).__name__} has no sign.")

    @property
    def inv(self) -> Transform:
        """The inverse transform."""
        return _InverseTransform(self)

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The transform with another cache size."""
        if self._cache_size == cache_size:
            return self
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        Transform.__init__(new, cache_size)
        return new

    def __call__(self, x: Tensor) -> Tensor:
        """The value at `x`."""
        if self._cache_size == 0:
            return self._call(x)
        argument, result = self._last
        if x is argument:
            return result
        y = self._call(x)
        self._last = (x, y)
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._inverse(y)
        argument, result = self._last
        if y is result:
            return argument
        x = self._inverse(y)
        self._last = (x, y)
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no forward function.")

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no inverse.")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The logarithm of the magnitude of the Jacobian's determinant, for argument `x` and value `y`.

        Raises:
            NotImplementedError: if there is none.
        """
        raise NotImplementedError(f"{type(self).__name__} has no log_abs_det_jacobian.")

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """The shape of values for arguments of this shape."""
        return Size(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """The shape of arguments for values of this shape."""
        return Size(shape)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return False
        return all(_same(getattr(self, name), getattr(other, name)) for name in self._parameters)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={getattr(self, name)}" for name in self._parameters)
        return f"{type(self).__name__}({numbers})"


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, Tensor) or isinstance(second, Tensor):
        return bool(raxis.as_tensor(first == second).all())
    return bool(first == second)


class _InverseTransform(Transform):
    """A transform read backwards."""

    _parameters = ("inv",)

    def __init__(self, transform: Transform) -> None:
        super().__init__()
        self._inv = transform

    @property
    def domain(self) -> Constraint:
        return self._inv.codomain

    @property
    def codomain(self) -> Constraint:
        return self._inv.domain

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._inv.with_cache(cache_size).inv

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        return self._inv.forward_shape(shape)


class ComposeTransform(Transform):
    """Transforms one after another.

    Args:
        parts: the first is applied first.
        cache_size: passed on to the parts.

    Example:
        >>> import raxis
        >>> from raxis.distributions.transforms import AffineTransform, ComposeTransform, ExpTransform
        >>> ComposeTransform([AffineTransform(1.0, 2.0), ExpTransform()])(raxis.tensor(-0.5))
        tensor(1.)
    """

    _parameters = ("parts",)

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    @property
    def domain(self) -> Constraint:
        if not self.parts:
            return constraints.real
        needed = int(self.parts[-1].codomain.event_dim)
        for part in reversed(self.parts):
            own = int(part.domain.event_dim)
            needed = max(needed + own - int(part.codomain.event_dim), own)
        return _widened(self.parts[0].domain, needed)

    @property
    def codomain(self) -> Constraint:
        if not self.parts:
            return constraints.real
        needed = int(self.parts[0].domain.event_dim)
        for part in self.parts:
            own = int(part.codomain.event_dim)
            needed = max(needed + own - int(part.domain.event_dim), own)
        return _widened(self.parts[-1].codomain, needed)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        return math.prod(part.sign for part in self.parts)

    @property
    def inv(self) -> Transform:
        return ComposeTransform([part.inv for part in reversed(self.parts)])

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return raxis.zeros_like(x)
        event_dim, terms = int(self.domain.event_dim), []
        for index, part in enumerate(self.parts):
            following = y if index == len(self.parts) - 1 else part(x)
            own = part.log_abs_det_jacobian(x, following)
            terms.append(sum_rightmost(own, event_dim - part.domain.event_dim))
            event_dim += part.codomain.event_dim - part.domain.event_dim
            x = following
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    def forward_shape(self, shape: Sequence[int]) -> Size:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return Size(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return Size(shape)


def _widened(constraint: Constraint, event_dim: int) -> Constraint:
    """The constraint for events of at least so many dimensions."""
    more = event_dim - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose `reinterpreted_batch_ndims` further dimensions belong to an event.

    Args:
        base_transform: the transform of the elements.
        reinterpreted_batch_ndims: how many more dimensions an event has.
    """

    _parameters = ("base_transform", "reinterpreted_batch_ndims")

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def domain(self) -> Constraint:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Constraint:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        if x.ndim < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        if y.ndim < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Transform):
    """Events reshaped.

    Args:
        in_shape: the shape of an argument.
        out_shape: the shape of a value.

    Raises:
        ValueError: if they have different numbers of elements.
    """

    bijective = True
    _parameters = ("in_shape", "out_shape")

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")

    @property
    def domain(self) -> Constraint:
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Constraint:
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.ndim - len(self.in_shape)])

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return _exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        return _exchanged(shape, self.out_shape, self.in_shape)


def _exchanged(shape: Sequence[int], old: Size, new: Size) -> Size:
    """`shape` with its end `old` replaced by `new`."""
    cut = len(shape) - len(old)
    if cut < 0:
        raise ValueError("Too few dimensions on input")
    if tuple(shape[cut:]) != tuple(old):
        raise ValueError(f"Shape mismatch: expected {tuple(shape[cut:])} but got {tuple(old)}")
    return Size((*shape[:cut], *new))
