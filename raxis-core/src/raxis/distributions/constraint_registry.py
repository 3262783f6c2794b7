"""From constraints to transforms of unconstrained numbers.

`biject_to` gives transforms that are one to one, as variational inference and Hamiltonian Monte Carlo need;
`transform_to` may give cheaper ones that reach some values in several ways, which suits optimisers.

Example:
    >>> import raxis
    >>> from raxis.distributions import biject_to, constraints
    >>> biject_to(constraints.positive)(raxis.tensor(0.0))
    tensor(1.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis.distributions import constraints, transforms
from raxis.distributions.constraints import Constraint
from raxis.distributions.transforms import Transform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """What makes a transform for a constraint, by the constraint's class."""

    def __init__(self) -> None:
        self._registry: dict[type[Constraint], Factory] = {}

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Register `factory` for a constraint's class; without it, a decorator.

        Args:
            constraint: a class of constraints or an instance.
            factory: gets the constraint and returns the transform.

        Raises:
            TypeError: if `constraint` is neither.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = constraint if isinstance(constraint, type) else type(constraint)
        if not issubclass(kind, Constraint):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}"
            )
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        """The transform of unconstrained numbers to `constraint`.

        Raises:
            NotImplementedError: if none is registered.
        """
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints: register a factory for them."
            )
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _both(*kinds: Any) -> Callable[[Factory], Factory]:
    def decorate(factory: Factory) -> Factory:
        for registry in (biject_to, transform_to):
            for kind in kinds:
                registry.register(kind, factory)
        return factory

    return decorate


def _is_number(bound: Any, number: int) -> bool:
    return isinstance(bound, (int, float)) and bound == number


@_both(constraints.real)
def _real(_: Any) -> Transform:
    return transforms.identity_transform


@_both(constraints.positive, constraints.nonnegative)
def _above(constraint: Any) -> Transform:
    if _is_number(constraint.lower_bound, 0):
        return transforms.ExpTransform()
    shifted = transforms.AffineTransform(constraint.lower_bound, 1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shifted])


@_both(constraints.less_than)
def _below(constraint: Any) -> Transform:
    mirrored = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), mirrored])


@_both(constraints.interval, constraints.half_open_interval)
def _between(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if _is_number(low, 0) and _is_number(high, 1):
        return transforms.SigmoidTransform()
    scaled = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([transforms.SigmoidTransform(), scaled])


@_both(constraints.corr_cholesky)
def _correlations(_: Any) -> Transform:
    return transforms.CorrCholeskyTransform()


@transform_to.register(constraints.lower_cholesky)  # type: ignore[untyped-decorator]
def _factors(_: Any) -> Transform:
    return transforms.LowerCholeskyTransform()


@transform_to.register(constraints.positive_definite)  # type: ignore[untyped-decorator]
@transform_to.register(constraints.positive_semidefinite)  # type: ignore[untyped-decorator]
def _definite(_: Any) -> Transform:
    return transforms.PositiveDefiniteTransform()


biject_to.register(constraints.simplex, lambda _: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda _: transforms.SoftmaxTransform())


def _register_nested(registry: ConstraintRegistry) -> None:
    """Constraints of constraints, whose transforms come from the same registry."""
    registry.register(
        constraints.independent,
        lambda constraint: transforms.IndependentTransform(
            registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims
        ),
    )
    registry.register(
        constraints.cat,
        lambda constraint: transforms.CatTransform(
            [registry(part) for part in constraint.cseq], constraint.dim, constraint.lengths
        ),
    )
    registry.register(
        constraints.stack,
        lambda constraint: transforms.StackTransform(
            [registry(part) for part in constraint.cseq], constraint.dim
        ),
    )


_register_nested(biject_to)
_register_nested(transform_to)
