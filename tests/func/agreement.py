"""The same function through `raxis.func` and `torch.func`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import raxis
import raxis.func

torch.set_num_threads(1)

TOLERANCE = {"rtol": 1e-9, "atol": 1e-10}


def as_raxis(given: Any) -> Any:
    """A tree of torch tensors as one of Raxis."""
    if isinstance(given, torch.Tensor):
        return raxis.from_numpy(given.detach().numpy().copy()).requires_grad_(given.requires_grad)
    if isinstance(given, dict):
        return {key: as_raxis(value) for key, value in given.items()}
    if isinstance(given, (tuple, list)):
        return type(given)(as_raxis(value) for value in given)
    return given


def agree(function: Callable[..., Any], *given: Any) -> None:
    """``function(module, func, *given)`` gives the same for both: trees, values, dtypes, ``requires_grad``."""
    found = function(raxis, raxis.func, *as_raxis(given))
    same(found, function(torch, torch.func, *given))


def same(found: Any, wanted: Any) -> None:
    """Assert that two trees agree."""
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        same(list(found.values()), list(wanted.values()))
    elif isinstance(wanted, (tuple, list)):
        assert type(found) is type(wanted)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    elif isinstance(wanted, torch.Tensor):
        assert str(found.dtype).split(".")[-1] == str(wanted.dtype).split(".")[-1]
        assert found.requires_grad == wanted.requires_grad
        np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), **TOLERANCE)
    else:
        assert found == wanted


def numbers(seed: int, *shape: int) -> torch.Tensor:
    """Normal numbers in float64."""
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def paired(make: Callable[[Any], Any]) -> dict[Any, Any]:
    """The module that `make` builds from ``nn``, in both frameworks and with the same parameters, in float64."""
    theirs, ours = make(torch.nn).double(), make(raxis.nn).double()
    ours.load_state_dict(as_raxis(dict(theirs.state_dict())))
    return {torch: theirs, raxis: ours}


def parameters(module: Any) -> dict[str, Any]:
    """A module's parameters, off the tape."""
    return {name: value.detach() for name, value in module.named_parameters()}
