"""Categories, as indices and as one-hot vectors."""

from __future__ import annotations

from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.choices import FromChances, one_of
from raxis.distributions.constraints import Constraint
from raxis.distributions.distribution import Constraints, Shape
from raxis.layout import broadcast_shapes
from raxis.nn.functional import one_hot
from raxis.ops.definitions.sampling import categories
from raxis.size import Size
from raxis.tensor import Tensor

__all__ = ["Categorical", "OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OfCategories(FromChances):
    """Normalised chances of categories, which lie along the last dimension."""

    _is_binary = False
    arg_constraints: ClassVar[Constraints] = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        name, chances = one_of(probs=probs, logits=logits)
        if chances.ndim < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        total = chances.sum(-1, keepdim=True) if name == "probs" else chances.logsumexp(-1, keepdim=True)
        self._keep(**{name: chances / total if name == "probs" else chances - total})
        super().__init__(Size(chances.shape[:-1]), self._event_of(chances), validate_args=validate_args)

    def _event_of(self, chances: Tensor) -> Size:
        """The shape of a value."""
        return Size(chances.shape[-1:])

    @property
    def _count(self) -> int:
        """The number of categories."""
        return int(self._chances.shape[-1])

    def _drawn(self, sample_shape: Shape) -> Tensor:
        """Indices, of the shape of samples and batch."""
        rows = self.probs.detach().reshape(-1, self._count)
        draws = Size(sample_shape).numel()
        if draws == 0 or 0 in rows.shape:
            drawn = raxis.empty((draws, rows.shape[0]), dtype=raxis.int64, device=rows.device)
        else:
            drawn = categories(rows, draws, True).t()
        return drawn.reshape((*sample_shape, *self._batch_shape))

    def _category_entropy(self) -> Tensor:
        logits = self.logits.clamp(min=raxis.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)


class Categorical(OfCategories):
    """Indices of categories, from 0.

    Args:
        probs: shape ``(..., categories)``, not negative; normalised to sum to 1.
        logits: logarithms of such, up to a constant.

    Raises:
        ValueError: unless exactly one of the two is given.

    Example:
        >>> import raxis
        >>> raxis.distributions.Categorical(raxis.tensor([1.0, 3.0])).probs
        tensor([0.2500, 0.7500])
    """

    has_enumerate_support = True

    def _event_of(self, chances: Tensor) -> Size:
        return Size(())

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        """0 to the number of categories."""
        return constraints.integer_interval(0, self._count - 1)

    @property
    def mean(self) -> Tensor:
        """NaN: indices have no mean."""
        return raxis.full_like(self.probs[..., 0], raxis.nan)

    @property
    def variance(self) -> Tensor:
        """NaN: indices have no variance."""
        return raxis.full_like(self.probs[..., 0], raxis.nan)

    @property
    def mode(self) -> Tensor:
        return self._chances.argmax(-1)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        return self._drawn(sample_shape)

    def _log_prob(self, value: Tensor) -> Tensor:
        index = value.to(raxis.int64).unsqueeze(-1)
        index, logits = raxis.broadcast_tensors(index, self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        return self._category_entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = raxis.arange(self._count, dtype=raxis.int64, device=self._chances.device)
        return self._enumerated(values, expand)


class OneHotCategorical(OfCategories):
    """One-hot vectors of categories; arguments and errors as `Categorical`.

    Example:
        >>> import raxis
        >>> raxis.distributions.OneHotCategorical(raxis.tensor([0.0, 1.0])).sample()
        tensor([0., 1.])
    """

    support = constraints.one_hot
    has_enumerate_support = True

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return one_hot(self.probs.argmax(-1), self._count).to(self.probs.dtype)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        return one_hot(self._drawn(sample_shape), self._count).to(self._chances.dtype)

    def _log_prob(self, value: Tensor) -> Tensor:
        index, logits = value.argmax(-1, keepdim=True), self.logits
        shape = broadcast_shapes(index.shape[:-1], logits.shape[:-1])
        logits = logits.expand((*shape, self._count))
        return logits.gather(-1, index.expand((*shape, 1))).squeeze(-1)

    def entropy(self) -> Tensor:
        return self._category_entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count, batch = self._count, self._batch_shape
        values = raxis.eye(count, dtype=self._chances.dtype, device=self._chances.device)
        values = values.reshape((count, *[1] * len(batch), count))
        return values.expand((count, *batch, count)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot vectors whose gradient is that of the probabilities (Bengio, Léonard & Courville, 2013).

    Example:
        >>> import raxis
        >>> probs = raxis.tensor([0.5, 0.5], requires_grad=True)
        >>> raxis.distributions.OneHotCategoricalStraightThrough(probs).rsample().requires_grad
        True
    """

    has_rsample = True

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
