"""Automatic differentiation: backward and grad, hooks, custom functions, gradient checks.

The names are loaded at first use: the tape itself lives in the modules of this package, and importing
one of them must not import all.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raxis.autograd import functional as functional
    from raxis.autograd import graph as graph
    from raxis.autograd.anomaly import detect_anomaly, set_detect_anomaly
    from raxis.autograd.checks import GradcheckError, gradcheck, gradgradcheck
    from raxis.autograd.function import Function, once_differentiable
    from raxis.autograd.grad_mode import (
        enable_grad,
        inference_mode,
        is_grad_enabled,
        no_grad,
        set_grad_enabled,
    )
    from raxis.autograd.gradients import backward, grad

_HOMES = {
    "anomaly": ("detect_anomaly", "set_detect_anomaly"),
    "checks": ("GradcheckError", "gradcheck", "gradgradcheck"),
    "function": ("Function", "once_differentiable"),
    "grad_mode": ("enable_grad", "inference_mode", "is_grad_enabled", "no_grad", "set_grad_enabled"),
    "gradients": ("backward", "grad"),
}
_MODULES = ("functional", "graph")

__all__ = [
    "Function",
    "GradcheckError",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "once_differentiable",
    "set_detect_anomaly",
    "set_grad_enabled",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _import_module(f"raxis.autograd.{name}")
    for home, names in _HOMES.items():
        if name in names:
            found = getattr(_import_module(f"raxis.autograd.{home}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'raxis.autograd' has no attribute {name!r}")
