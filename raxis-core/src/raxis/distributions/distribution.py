"""The base of all distributions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.constraints import Constraint
from raxis.distributions.utils import broadcast_all, fails, lazy_property, visible
from raxis.size import Size
from raxis.tensor import Tensor

__all__ = ["Distribution"]

Self = TypeVar("Self", bound="Distribution")
Shape = Sequence[int]
Constraints = Mapping[str, Constraint]
"""The constraint of every parameter, by name."""


class Distribution:
    """A batch of independent distributions.

    Args:
        batch_shape: shape of the batch of parameters.
        event_shape: shape of one value.
        validate_args: whether parameters and values are checked; default: as `set_default_validate_args` says.
            While a compiled function is recorded, elements are unknown and not checked.

    Raises:
        ValueError: if a parameter lies outside its constraint.
    """

    arg_constraints: ClassVar[Constraints] = {}
    """The constraint of every parameter."""
    support: Any = constraints.dependent
    """The constraint of values."""
    has_rsample: bool = False
    """Whether `rsample` has gradients with respect to the parameters."""
    has_enumerate_support: bool = False
    """Whether `enumerate_support` lists all values."""
    _validate_args: bool = __debug__
    _given: tuple[str, ...] = ()
    """The parameters that were passed; others are computed from them."""

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Check parameters and values from now on, or stop checking.

        Raises:
            ValueError: if `value` is no bool.
        """
        if value not in (True, False):
            raise ValueError(f"validate_args is True or False, but got {value!r}.")
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Shape = (), event_shape: Shape = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()

    def _broadcast_parameters(self, **parameters: Any) -> Size:
        """Keep parameters whose events are single numbers, broadcast; their shape is returned."""
        values = broadcast_all(*parameters.values())
        self._keep(**dict(zip(parameters, values, strict=True)))
        return values[0].shape

    def _keep(self, **parameters: Any) -> None:
        self._given = tuple(parameters)
        self.__dict__.update(parameters)

    def _parameter_names(self) -> tuple[str, ...]:
        """The parameters that were passed; of classes that do not say, the attributes that have constraints."""
        return self._given or tuple(name for name in self.arg_constraints if name in self.__dict__)

    def _validate_parameters(self) -> None:
        for name, constraint in self.arg_constraints.items():
            if constraints.is_dependent(constraint) or name not in self.__dict__:
                continue
            value = self.__dict__[name]
            if fails(constraint.check(value)):
                raise ValueError(
                    f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n"
                    f"{visible(value)}"
                )

    def expand(self: Self, batch_shape: Shape, _instance: Any = None) -> Self:
        """The distribution with its batch broadcast to `batch_shape`; parameters are expanded, not copied.

        Raises:
            RuntimeError: if the batch does not expand to this shape.
        """
        new = object.__new__(type(self)) if _instance is None else _instance
        batch_shape = Size(batch_shape)
        parameters = self._parameter_names()
        for name, value in self.__dict__.items():
            if name in parameters:
                value = self._expanded(name, value, batch_shape)
            elif isinstance(getattr(type(self), name, None), lazy_property):
                continue
            new.__dict__[name] = value
        new._batch_shape = batch_shape
        return new

    def _expanded(self, name: str, value: Tensor, batch_shape: Size) -> Tensor:
        events = value.shape[value.ndim - self.arg_constraints[name].event_dim :]
        return value.expand((*batch_shape, *events))

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""
        return self._event_shape

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {what}.")

    @property
    def mean(self) -> Tensor:
        """The mean, of the batch's shape and the event's."""
        raise self._missing("mean")

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        raise self._missing("mode")

    @property
    def variance(self) -> Tensor:
        """The variance of each element."""
        raise self._missing("variance")

    @property
    def stddev(self) -> Tensor:
        """The square root of `variance`."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        """Draw `sample_shape` values for each distribution of the batch, without gradients."""
        with raxis.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        """Draw values that depend differentiably on the parameters.

        Raises:
            NotImplementedError: if there is no such way, see `has_rsample`.
        """
        raise self._missing("rsample")

    def sample_n(self, n: int) -> Tensor:
        """Draw `n` values for each distribution of the batch: `sample` with the shape ``(n,)``."""
        warnings.warn(
            "sample_n(n) will be deprecated. Use .sample((n,)) instead.", FutureWarning, stacklevel=2
        )
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density or of the probability at `value`.

        Args:
            value: broadcasts with the batch's shape followed by the event's.

        Returns:
            A tensor without the event's dimensions.

        Raises:
            ValueError: if `value` is no tensor, has another event shape or lies outside the support.
        """
        if self._validate_args:
            self._validate_sample(value)
        return self._log_prob(value)

    def _log_prob(self, value: Tensor) -> Tensor:
        raise self._missing("log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of values up to `value`; arguments and errors as `log_prob`."""
        if self._validate_args:
            self._validate_sample(value)
        return self._cdf(value)

    def _cdf(self, value: Tensor) -> Tensor:
        raise self._missing("cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of `cdf`, at probabilities."""
        raise self._missing("icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a new first dimension; for each distribution of the batch if `expand`.

        Raises:
            NotImplementedError: if there are infinitely many.
        """
        raise self._missing("enumerate_support")

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """A row of values as `enumerate_support` returns it."""
        values = values.reshape(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values

    def entropy(self) -> Tensor:
        """The entropy, in nats, of the batch's shape."""
        raise self._missing("entropy")

    def perplexity(self) -> Tensor:
        """``exp(entropy)``."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Shape = ()) -> Size:
        """The shape of `sample_shape` values."""
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ValueError(
                f"The value argument to log_prob must be a Tensor, but got {type(value).__name__}."
            )
        events = len(self._event_shape)
        if value.shape[value.ndim - events :] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {tuple(value.shape)} vs "
                f"{tuple(self._event_shape)}."
            )
        expected = (*self._batch_shape, *self._event_shape)
        for size, own in zip(reversed(value.shape), reversed(expected), strict=False):
            if size not in (1, own) and own != 1:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {tuple(value.shape)} vs {expected}."
                )
        if fails(self.support.check(value)):
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the "
                f"support ({self.support!r}) of the distribution {self!r}, but found invalid values:\n{visible(value)}"
            )

    def __repr__(self) -> str:
        shown = []
        for name in self._parameter_names():
            value = visible(self.__dict__[name])
            shown.append(f"{name}: {value.item() if value.numel() == 1 else value.shape}")
        return f"{type(self).__name__}({', '.join(shown)})"
