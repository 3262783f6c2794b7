"""Which implementation of a functional runs: its own, another one by name, or the fastest as measured.

Functionals are the functions of `raxis.nn.functional`. A policy is a word: ``"default"`` (the op's own
implementation), the name of an implementation (also written ``"force=name"``), or ``"measured"``. Policies come from,
the first wins: `use` (the user), `scope` (the model), RAXIS_OVERRIDES, the configuration file.

Example:
    >>> import raxis
    >>> from raxis import overrides
    >>> with overrides.use(softmax="composed"):
    ...     raxis.softmax(raxis.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    >>> overrides.implementations("softmax")
    ['composed', 'default']
"""

from __future__ import annotations

from raxis.overrides.configuration import refresh
from raxis.overrides.module_scope import scope
from raxis.overrides.registry import Implementation, functionals, implementations, register
from raxis.overrides.scopes import policies, use

__all__ = [
    "Implementation",
    "functionals",
    "implementations",
    "policies",
    "refresh",
    "register",
    "scope",
    "use",
]
