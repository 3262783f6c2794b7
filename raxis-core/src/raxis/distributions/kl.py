"""Kullback-Leibler divergences, by the classes of the two distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis.distributions.distribution import Distribution
from raxis.tensor import Tensor

__all__ = ["kl_divergence", "register_kl"]

Divergence = Callable[[Any, Any], Tensor]

# Filled by decorators; a dict takes and gives single entries whole, whatever threads do.
_registered: dict[tuple[type[Distribution], type[Distribution]], Divergence] = {}


def register_kl(type_p: type[Distribution], type_q: type[Distribution]) -> Callable[[Divergence], Divergence]:
    """Decorator: the function computes ``kl_divergence(p, q)`` for p and q of these classes and their subclasses.

    Raises:
        TypeError: if a class is not one of distributions.

    Example:
        >>> from raxis.distributions import Normal, kl_divergence, register_kl
        >>> class Own(Normal):
        ...     pass
        >>> @register_kl(Own, Own)
        ... def kl_own(p, q):
        ...     return p.loc * 0 + 7
        >>> kl_divergence(Own(0.0, 1.0), Own(1.0, 1.0))
        tensor(7.)
    """
    for what, kind in (("type_p", type_p), ("type_q", type_q)):
        if not issubclass(kind, Distribution):
            raise TypeError(f"Expected {what} to be a Distribution subclass but got {kind}")

    def decorate(function: Divergence) -> Divergence:
        _registered[type_p, type_q] = function
        return function

    return decorate


def _found(type_p: type, type_q: type) -> Divergence | None:
    """The function registered for the nearest classes: p's decides first, then q's."""
    for kind_p in type_p.__mro__:
        for kind_q in type_q.__mro__:
            function = _registered.get((kind_p, kind_q))
            if function is not None:
                return function
    return None


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The mean of ``log(p(x) / q(x))`` over x drawn from p, of the broadcast batch shape.

    Raises:
        NotImplementedError: if there is no formula for these classes, see `register_kl`.

    Example:
        >>> from raxis.distributions import Normal, kl_divergence
        >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
        tensor(0.5000)
    """
    function = _found(type(p), type(q))
    if function is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return function(p, q)
