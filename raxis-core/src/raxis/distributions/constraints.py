"""Which values a parameter or a sample may have.

A constraint's `check` says element by element (event by event, where `event_dim` is above 0) whether values satisfy it.

Example:
    >>> import raxis
    >>> raxis.distributions.constraints.positive.check(raxis.tensor([-1.0, 2.0]))
    tensor([False,  True])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import raxis
from raxis import dtypes

if TYPE_CHECKING:
    from raxis.tensor import Tensor

__all__ = [
    "Constraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property", "greater_than",
    "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval", "is_dependent", "less_than",
    "lower_cholesky", "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive",
    "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square",
    "stack", "symmetric", "unit_interval",
]  # fmt: skip

_TOLERANCE = 1e-6
"""How far sums that should be 1, and entries that should mirror each other, may be off."""


class Constraint:
    """A region of values.

    Attributes:
        is_discrete: whether the region holds isolated points only.
        event_dim: how many rightmost dimensions make one value.
    """

    is_discrete: bool = False
    event_dim: int = 0

    def check(self, value: Tensor) -> Tensor:
        """A bool for each event of `value`."""
        raise NotImplementedError(f"the constraint {self!r} cannot check values.")

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={value}" for name, value in self.__dict__.items() if name in self._shown)
        return f"{type(self).__name__.lstrip('_')}({numbers})"

    _shown: tuple[str, ...] = ()


class _Dependent(Constraint):
    """Depends on other parameters: it is known of an instance only."""

    _shown = ("is_discrete", "event_dim")

    def __init__(self, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        self.is_discrete = is_discrete
        self.event_dim = event_dim

    def __call__(self, *, is_discrete: bool = False, event_dim: int = 0) -> _Dependent:
        """A dependent constraint of which this much is known."""
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, value: Tensor) -> Tensor:
        raise ValueError(
            "Cannot determine validity of dependent constraint; ask the distribution's instance for its support."
        )


class dependent_property(property, _Dependent):
    """A property that is a constraint of the instance; on the class, a dependent constraint.

    Args:
        function: computes the constraint of an instance.
    """

    def __init__(
        self,
        function: Callable[[Any], Constraint] | None = None,
        *,
        is_discrete: bool = False,
        event_dim: int = 0,
    ) -> None:
        property.__init__(self, function)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, function: Any = None, **known: Any) -> Any:
        """As a decorator with arguments."""
        return dependent_property(function, is_discrete=self.is_discrete, event_dim=self.event_dim)


def is_dependent(constraint: Constraint) -> bool:
    """Whether the constraint depends on other parameters."""
    return isinstance(constraint, _Dependent)


class _IndependentConstraint(Constraint):
    """A constraint whose `reinterpreted_batch_ndims` rightmost dimensions must hold together."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    _shown = ("base_constraint", "reinterpreted_batch_ndims")

    def check(self, value: Tensor) -> Tensor:
        if value.ndim < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.ndim}")
        result = self.base_constraint.check(value)
        count = self.reinterpreted_batch_ndims
        return result.all(tuple(range(-count, 0))) if count else result


class _Boolean(Constraint):
    """0 or 1."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """Vectors of zeros and one 1."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Bounded(Constraint):
    """Values between two bounds, each a number, a tensor or None."""

    _shown = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Any = None, upper_bound: Any = None) -> None:
        if lower_bound is not None:
            self.lower_bound = lower_bound
        if upper_bound is not None:
            self.upper_bound = upper_bound


class _IntegerInterval(_Bounded):
    """Whole numbers between two bounds, both included."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Bounded):
    """Whole numbers from a bound on."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _GreaterThan(_Bounded):
    """Numbers above a bound."""

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound < value


class _GreaterThanEq(_Bounded):
    """Numbers from a bound on."""

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound <= value


class _LessThan(_Bounded):
    """Numbers below a bound."""

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(None, upper_bound)

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _Interval(_Bounded):
    """Numbers between two bounds, both included."""

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Bounded):
    """Numbers between two bounds, the lower one included."""

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Multinomial(Constraint):
    """Counts that sum to at most `upper_bound`."""

    is_discrete = True
    event_dim = 1
    _shown = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _Real(Constraint):
    """Numbers that are not NaN."""

    def check(self, value: Tensor) -> Tensor:
        return ~value.isnan()


class _Simplex(Constraint):
    """Vectors of numbers that are not negative and sum to 1."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < _TOLERANCE)


class _Matrix(Constraint):
    """Matrices."""

    event_dim = 2


class _LowerTriangular(_Matrix):
    """Lower triangular matrices."""

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_Matrix):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value: Tensor) -> Tensor:
        return lower_triangular.check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_Matrix):
    """Lower triangular matrices with a positive diagonal and rows of length 1."""

    def check(self, value: Tensor) -> Tensor:
        tolerance = raxis.finfo(value.dtype).eps * value.shape[-1] * 10
        unit_rows = ((value * value).sum(-1).sqrt() - 1).abs() < tolerance
        return lower_cholesky.check(value) & unit_rows.all(-1)


class _Square(_Matrix):
    """Square matrices."""

    def check(self, value: Tensor) -> Tensor:
        square = value.shape[-2] == value.shape[-1]
        return raxis.full(value.shape[:-2], square, dtype=dtypes.bool_, device=value.device)


class _Symmetric(_Square):
    """Symmetric matrices."""

    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return square
        return value.isclose(value.mT, atol=_TOLERANCE).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return (raxis.linalg.eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices with positive eigenvalues."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return raxis.linalg.cholesky_ex(value).info == 0


class _Joined(Constraint):
    """Constraints of the parts of a value along one dimension."""

    def __init__(self, parts: Sequence[Constraint], dim: int) -> None:
        self.cseq = list(parts)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return any(part.is_discrete for part in self.cseq)

    _shown = ("cseq", "dim")


class _Cat(_Joined):
    """Parts of given lengths, one after another along `dim`."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return max(part.event_dim for part in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        parts = value.split(self.lengths, self.dim)
        checks = [constraint.check(part) for constraint, part in zip(self.cseq, parts, strict=True)]
        return raxis.cat(checks, self.dim)


class _Stack(_Joined):
    """Slices along `dim`."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        super().__init__(cseq, dim)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        inner = max(part.event_dim for part in self.cseq)
        return inner + 1 if self.dim + inner < 0 else inner

    def check(self, value: Tensor) -> Tensor:
        slices = value.unbind(self.dim)
        checks = [constraint.check(part) for constraint, part in zip(self.cseq, slices, strict=True)]
        return raxis.stack(checks, self.dim)


dependent = _Dependent()
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
