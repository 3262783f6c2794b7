"""Distributions given by probabilities or by logits: exactly one of the two."""

from __future__ import annotations

from typing import Any

import raxis
from raxis.distributions.distribution import Distribution
from raxis.distributions.utils import lazy_property, logits_to_probs, probs_to_logits
from raxis.tensor import Tensor

__all__: list[str] = []


def one_of(**alternatives: Any) -> tuple[str, Any]:
    """The name and the value of the only alternative that is not None.

    Raises:
        ValueError: if none or several are given.
    """
    given = [(name, value) for name, value in alternatives.items() if value is not None]
    if len(given) != 1:
        names = " or ".join(f"`{name}`" for name in alternatives)
        raise ValueError(f"Either {names} must be specified, but not both.")
    return given[0]


class FromChances(Distribution):
    """Parameters `probs` and `logits`, the one that was not given computed from the other."""

    _is_binary: bool = True

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities."""
        return logits_to_probs(self.logits, self._is_binary)

    @lazy_property
    def logits(self) -> Tensor:
        """Log-odds, or logarithms of the probabilities of categories."""
        return probs_to_logits(self.probs, self._is_binary)

    @property
    def _chances(self) -> Tensor:
        """The parameter that was given."""
        return self.__dict__[self._given[-1]]

    @property
    def param_shape(self) -> raxis.Size:
        """The shape of the parameter that was given."""
        return self._chances.shape

    def _expanded_probs(self, sample_shape: Any) -> Tensor:
        return self.probs.expand(self._extended_shape(sample_shape)).detach()
