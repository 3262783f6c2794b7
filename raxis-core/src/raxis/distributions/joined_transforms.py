"""Transforms of the parts of a tensor along one dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import raxis
from raxis.distributions import constraints
from raxis.distributions.constraints import Constraint
from raxis.distributions.transform import Transform
from raxis.distributions.utils import sum_rightmost
from raxis.tensor import Tensor

__all__ = ["CatTransform", "StackTransform"]


class _Joined(Transform):
    """Transforms, one for each part."""

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        super().__init__(cache_size)
        self.transforms = [transform.with_cache(cache_size) for transform in tseq]
        self.dim = dim

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(transform.bijective for transform in self.transforms)

    def _parts(self, value: Tensor) -> Any:
        raise NotImplementedError

    def _join(self, parts: list[Tensor]) -> Tensor:
        raise NotImplementedError

    def _each(self, value: Tensor, function: Callable[[Transform, Tensor], Tensor]) -> Tensor:
        parts = self._parts(value)
        return self._join(
            [function(transform, part) for transform, part in zip(self.transforms, parts, strict=True)]
        )

    def _call(self, x: Tensor) -> Tensor:
        return self._each(x, lambda transform, part: transform(part))

    def _inverse(self, y: Tensor) -> Tensor:
        return self._each(y, lambda transform, part: transform.inv(part))


class CatTransform(_Joined):
    """Parts one after another along `dim`.

    Args:
        tseq: a transform for each part.
        dim: the dimension.
        lengths: of the parts; default: 1 each.
    """

    _parameters = ("transforms", "dim", "lengths")

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)

    @property
    def domain(self) -> Constraint:
        return constraints.cat([part.domain for part in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Constraint:
        return constraints.cat([part.codomain for part in self.transforms], self.dim, self.lengths)

    def _parts(self, value: Tensor) -> Any:
        return value.split(self.lengths, self.dim)

    def _join(self, parts: list[Tensor]) -> Tensor:
        return raxis.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        event_dim, terms = int(self.domain.event_dim), []
        for transform, before, after in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            own = transform.log_abs_det_jacobian(before, after)
            terms.append(sum_rightmost(own, event_dim - transform.domain.event_dim))
        dim = (self.dim if self.dim < 0 else self.dim - x.ndim) + event_dim
        if dim < 0:
            return raxis.cat(terms, dim)
        return sum(terms[1:], terms[0])


class StackTransform(_Joined):
    """Slices along `dim`.

    Args:
        tseq: a transform for each slice.
        dim: the dimension.
    """

    _parameters = ("transforms", "dim")

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    @property
    def domain(self) -> Constraint:
        return constraints.stack([part.domain for part in self.transforms], self.dim)

    @property
    def codomain(self) -> Constraint:
        return constraints.stack([part.codomain for part in self.transforms], self.dim)

    def _parts(self, value: Tensor) -> Any:
        return value.unbind(self.dim)

    def _join(self, parts: list[Tensor]) -> Tensor:
        return raxis.stack(parts, self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        terms = [
            transform.log_abs_det_jacobian(before, after)
            for transform, before, after in zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        ]
        return raxis.stack(terms, self.dim)
