"""Forward mode: `jvp`, `linearize`.

It is the derivative of the gradient with respect to its cotangent, in which it is linear: exact, at the price of a
backward pass that is recorded (J. Townsend, A new trick for calculating Jacobian vector products, 2017).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from raxis.autograd.grad_mode import enable_grad, mode, no_grad
from raxis.autograd.record import constant_of
from raxis.dtypes import Category, promote_types
from raxis.func.tracing import Traced, derived, require_tensors
from raxis.tensor import Tensor
from raxis.utils._pytree import TreeSpec, tree_flatten, tree_unflatten


class _Linear:
    """The Jacobian of a traced function as a linear function of tangents."""

    def __init__(self, traced: Traced, record: bool) -> None:
        self._traced = traced
        self._record = record
        with no_grad():
            zeros = [constant_of(output._layout, 0) for output in traced.outputs]
        floats = [output._edge is not None for output in traced.outputs]
        self._cotangents = [
            zero.requires_grad_() if tracked else zero for zero, tracked in zip(zeros, floats, strict=True)
        ]
        with enable_grad():
            self._gradients = derived(traced.outputs, traced.inputs, self._cotangents, keep=True, record=True)
        traced.own(self._cotangents)

    def __call__(self, tangents: Sequence[Tensor], *, keep: bool) -> list[Tensor]:
        """The tangents of the outputs."""
        wanted = [item for item in self._cotangents if item._edge is not None]
        record = self._record or (mode.enabled and any(tangent.requires_grad for tangent in tangents))
        found = iter(
            derived(self._gradients, wanted, tangents, keep=keep or record, record=record) if wanted else ()
        )
        pushed = [next(found) if item._edge is not None else item for item in self._cotangents]
        return [self._traced.shown(tangent) for tangent in pushed]

    def wide(self, primals: Sequence[Tensor], tangents: Sequence[Tensor], *, keep: bool) -> list[Tensor]:
        """The tangents of the outputs, for tangents of any dtypes: as if promoted with the outputs.

        The real and the imaginary part of a tangent of a real primal are pushed one after the other.
        """
        pairs = list(zip(primals, tangents, strict=True))
        wider = [tangent.dtype for primal, tangent in pairs if _is_wider(primal, tangent)]
        if not wider:
            return self(tangents, keep=keep)
        widest = functools.reduce(promote_types, wider)
        split = any(_is_wider(primal, tangent) and tangent.is_complex() for primal, tangent in pairs)
        pushed = self([_real_part(*pair) for pair in pairs], keep=keep or split)
        if split:
            turned = self([_imaginary_part(*pair) for pair in pairs], keep=keep)
            pushed = [
                real + 1j * imaginary if item._edge is not None else real
                for item, real, imaginary in zip(self._cotangents, pushed, turned, strict=True)
            ]
        return [
            found.to(promote_types(found.dtype, widest)) if item._edge is not None else found
            for item, found in zip(self._cotangents, pushed, strict=True)
        ]


def _is_wider(primal: Tensor, tangent: Tensor) -> bool:
    return promote_types(primal.dtype, tangent.dtype) is not primal.dtype


def _real_part(primal: Tensor, tangent: Tensor) -> Tensor:
    if not _is_wider(primal, tangent):
        return tangent
    return (tangent.real if tangent.is_complex() and not primal.is_complex() else tangent).to(primal.dtype)


def _imaginary_part(primal: Tensor, tangent: Tensor) -> Tensor:
    if tangent.is_complex() and not primal.is_complex():
        return tangent.imag.to(primal.dtype)
    return tangent.new_zeros(tangent.shape, dtype=primal.dtype)


def pushing(traced: Traced) -> _Linear:
    """What multiplies the Jacobian of a traced function by tangents."""
    return _Linear(traced, record=mode.enabled and traced.leads_outside)


def jvp(
    func: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], *, strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """The value of `func`, and its Jacobian times a tangent: the directional derivative.

    Args:
        func: takes and returns tensors or containers of them.
        primals: the arguments.
        tangents: one for each, of its structure and shapes. If their dtypes are wider than the primals', those of the
            results are too.
        strict: raise if an output does not depend on the primals, instead of giving zeros.
        has_aux: `func` returns a pair ``(output, aux)``; the result is ``(output, tangent, aux)``.

    Raises:
        RuntimeError: if primals are no tuple or tangents do not fit them.
        ValueError: if one of them is of an integer dtype.

    Example:
        >>> import raxis
        >>> raxis.func.jvp(raxis.sin, (raxis.tensor(0.0),), (raxis.tensor(2.0),))
        (tensor(0.), tensor(2.))
    """
    leaves = _checked_tangents(primals, tangents)
    traced = Traced(func, primals, has_aux)
    require_tensors("jvp", traced.outputs)
    if strict and any(output._edge is None for output in traced.outputs):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed "
            "with strict=True."
        )
    pushed = pushing(traced).wide(tree_flatten(primals)[0], leaves, keep=False)
    tangent = tree_unflatten(pushed, traced.structure)
    return (traced.result(), tangent, traced.aux) if has_aux else (traced.result(), tangent)


def _checked_tangents(primals: Any, tangents: Any) -> list[Tensor]:
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to be tuples, but got "
            f"{type(primals).__name__} and {type(tangents).__name__}. E.g. it should be valid to call f(*primals)."
        )
    given, structure = tree_flatten(primals)
    check_primals("jvp", given)
    return fitting_tangents(given, structure, tangents)


def check_primals(name: str, primals: Sequence[Any]) -> None:
    """Raise unless forward mode can differentiate for these.

    Raises:
        RuntimeError: if one is no tensor.
        ValueError: if one is of an integer dtype.
    """
    for primal in primals:
        if not isinstance(primal, Tensor):
            raise RuntimeError(f"{name}: Expected primals to only contain Tensors, got {type(primal)}")
        if primal.dtype.category < Category.FLOAT:
            raise ValueError(
                f"{name}: Expected primal to be floating point or complex, but got: {primal.dtype}"
            )


def fitting_tangents(primals: Sequence[Any], structure: TreeSpec, tangents: Any) -> list[Tensor]:
    """The leaves of tangents.

    Raises:
        RuntimeError: if they do not fit the primals.
        ValueError: if one is of an integer dtype.
    """
    leaves, own = tree_flatten(tangents)
    if own != structure:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure, but got "
            f"primals with structure {structure} and tangents with structure {own}."
        )
    for primal, tangent in zip(primals, leaves, strict=True):
        if not isinstance(tangent, Tensor) or tangent.shape != primal.shape:
            raise RuntimeError(
                "jvp(f, primals, tangents): Expected a tangent to be a tensor of its primal's shape, "
                f"{list(primal.shape)}, but got "
                f"{list(tangent.shape) if isinstance(tangent, Tensor) else type(tangent).__name__}."
            )
        if tangent.dtype.category < Category.FLOAT:
            raise ValueError(
                f"jvp(f, primals, tangents): Expected tangent to be floating point or complex, but got: {tangent.dtype}"
            )
    return leaves


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of `func`, and the function that multiplies its Jacobian by tangents; `func` runs once.

    Example:
        >>> import raxis
        >>> output, push = raxis.func.linearize(lambda x: x * x, raxis.tensor([1.0, 2.0]))
        >>> push(raxis.ones(2))
        tensor([2., 4.])
    """
    given, structure = tree_flatten(primals)
    check_primals("linearize", given)
    traced = Traced(func, primals)
    require_tensors("linearize", traced.outputs)
    linear = pushing(traced)

    def push(*tangents: Any) -> Any:
        leaves = fitting_tangents(given, structure, tangents)
        return tree_unflatten(linear.wide(given, leaves, keep=True), traced.structure)

    return traced.result(), push
