"""Transformations of functions: derivatives, and many examples at once (PyTorch's ``torch.func``)."""

from __future__ import annotations

from raxis.func.forward import jvp, linearize
from raxis.func.jacobians import hessian, jacfwd, jacrev
from raxis.func.modules import functional_call, stack_module_state
from raxis.func.reverse import grad, grad_and_value, vjp
from raxis.func.vmapping import vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]
