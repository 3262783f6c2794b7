"""Checking derivatives against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.autograd.grad_mode import enable_grad, no_grad
from raxis.autograd.gradients import grad
from raxis.interop import from_numpy
from raxis.tensor import Tensor


class GradcheckError(RuntimeError):
    """A derivative that does not agree with finite differences."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
) -> bool:
    """Compare the derivatives of `func` with central differences.

    Args:
        func: takes `inputs`, returns a tensor or a tuple of them.
        inputs: those that require grad are checked; they should be float64 or complex128.
        eps: step of the differences.
        atol: absolute tolerance.
        rtol: relative tolerance.
        raise_exception: raise instead of returning False.
        nondet_tol: how much two backward passes may differ.

    Raises:
        GradcheckError: if a derivative is wrong.
        ValueError: if no input requires grad.

    Example:
        >>> import raxis
        >>> x = raxis.tensor([0.5, 2.0], dtype=raxis.float64, requires_grad=True)
        >>> raxis.autograd.gradcheck(lambda x: x.exp(), (x,))
        True
    """
    arguments = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    try:
        _check(func, arguments, eps, atol, rtol, nondet_tol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check(
    func: Callable[..., Any],
    arguments: Sequence[Any],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
) -> None:
    checked = [argument for argument in arguments if isinstance(argument, Tensor) and argument.requires_grad]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )
    for position, output in enumerate(_outputs(func, arguments)):
        if output.requires_grad:
            _check_output(func, arguments, checked, position, output, eps, atol, rtol, nondet_tol)


def _outputs(func: Callable[..., Any], arguments: Sequence[Any]) -> list[Tensor]:
    returned = func(*arguments)
    outputs = [returned] if isinstance(returned, Tensor) else list(returned)
    return [
        output
        for output in outputs
        if isinstance(output, Tensor) and output.dtype.category >= dtypes.Category.FLOAT
    ]


def _check_output(
    func: Callable[..., Any], arguments: Sequence[Any], checked: Sequence[Tensor], position: int, output: Tensor,
    eps: float, atol: float, rtol: float, nondet_tol: float,
) -> None:  # fmt: skip
    analytical = _analytical(output, checked)
    again = _analytical(output, checked)
    for index, tensor in enumerate(checked):
        if not np.allclose(analytical[index], again[index], atol=nondet_tol, rtol=0.0, equal_nan=True):
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
                "gives different values, although analytical gradient matches numerical gradient."
            )
        numerical = _numerical(func, arguments, tensor, position, output, eps)
        if not np.allclose(analytical[index], numerical, rtol=rtol, atol=atol, equal_nan=True):
            raise GradcheckError(
                f"Jacobian mismatch for output {position} with respect to input {index},\n"
                f"numerical:\n{numerical}\nanalytical:\n{analytical[index]}"
            )


def _directions(layout_complex: bool) -> tuple[complex, ...]:
    return (1.0, 1j) if layout_complex else (1.0,)


def _analytical(output: Tensor, checked: Sequence[Tensor]) -> list[np.ndarray]:
    """For each input the matrix d(real, imaginary parts of output)/d(parts of input), by backward."""
    blocks: list[list[np.ndarray]] = [[] for _ in checked]
    for cotangent in _basis(output):
        found = grad(
            output, list(checked), cotangent, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        for block, gradient in zip(blocks, found, strict=True):
            block.append(_parts(gradient))
    width = [_parts(tensor).size for tensor in checked]
    return [np.stack(block) if block else np.zeros((0, w)) for block, w in zip(blocks, width, strict=True)]


def _basis(output: Tensor) -> Iterator[Tensor]:
    for direction in _directions(output.dtype.is_complex):
        for element in range(output.numel()):
            cotangent = np.zeros(output.numel(), dtype=output.dtype.numpy)
            cotangent[element] = direction
            yield from_numpy(cotangent.reshape(tuple(output.shape))).to(output.device)


def _parts(tensor: Any) -> np.ndarray:
    """Real parts, then imaginary parts of complex tensors, in float64."""
    values = tensor.detach().cpu().numpy().ravel()
    if np.iscomplexobj(values):
        return np.concatenate([values.real, values.imag]).astype(np.float64)
    return values.astype(np.float64)


def _numerical(
    func: Callable[..., Any],
    arguments: Sequence[Any],
    tensor: Tensor,
    position: int,
    output: Tensor,
    eps: float,
) -> np.ndarray:
    columns = []
    for direction in _directions(tensor.dtype.is_complex):
        for element in range(tensor.numel()):
            high = _shifted(func, arguments, tensor, position, element, eps * direction)
            low = _shifted(func, arguments, tensor, position, element, -eps * direction)
            columns.append((high - low) / (2 * eps))
    rows = _parts(output).size
    return np.stack(columns, axis=1) if columns else np.zeros((rows, 0))


def _shifted(
    func: Callable[..., Any],
    arguments: Sequence[Any],
    tensor: Tensor,
    position: int,
    element: int,
    step: complex,
) -> np.ndarray:
    values = tensor.detach().cpu().numpy().copy()
    values.reshape(-1)[element] += step
    moved = from_numpy(values).to(tensor.device)
    replaced = [moved if argument is tensor else argument for argument in arguments]
    with no_grad():
        return _parts(_outputs(func, replaced)[position])


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
) -> bool:
    """Like `gradcheck`, for the derivatives of the derivatives.

    Args:
        grad_outputs: cotangents at which to check; random ones by default.
    """
    arguments = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    outputs = [output for output in _outputs(func, arguments) if output.requires_grad]
    cotangents = _cotangents(outputs, grad_outputs)
    count = len(arguments)

    def first(*given: Any) -> tuple[Tensor, ...]:
        tensors = [
            argument for argument in given[:count] if isinstance(argument, Tensor) and argument.requires_grad
        ]
        made = [output for output in _outputs(func, given[:count]) if output.requires_grad]
        found = grad(made, tensors, list(given[count:]), create_graph=True, allow_unused=True)
        return tuple(gradient for gradient in found if gradient is not None and gradient.requires_grad)

    return gradcheck(
        _ForNumbers(first, arguments, count), (*arguments, *cotangents), eps=eps, atol=atol, rtol=rtol,
        raise_exception=raise_exception, nondet_tol=nondet_tol,
    )  # fmt: skip


class _ForNumbers:
    """The first derivative as a function whose inputs always require grad, also at shifted values."""

    def __init__(
        self, first: Callable[..., tuple[Tensor, ...]], arguments: Sequence[Any], count: int
    ) -> None:
        self._first = first
        self._tracked = [isinstance(argument, Tensor) and argument.requires_grad for argument in arguments]
        self._count = count

    def __call__(self, *given: Any) -> tuple[Tensor, ...]:
        tracked = [*self._tracked, *[True] * (len(given) - self._count)]
        prepared = [
            argument.detach().requires_grad_() if want and isinstance(argument, Tensor) and not argument.requires_grad
            else argument
            for argument, want in zip(given, tracked, strict=True)
        ]  # fmt: skip
        with enable_grad():
            return self._first(*prepared)


def _cotangents(outputs: Sequence[Tensor], given: Any) -> list[Tensor]:
    if given is not None:
        chosen = [given] if isinstance(given, Tensor) else list(given)
        return [tensor.detach().requires_grad_() for tensor in chosen]
    source = np.random.default_rng(0)
    made = []
    for output in outputs:
        values = np.asarray(source.standard_normal(tuple(output.shape)), dtype=np.float64)
        if output.dtype.is_complex:
            values = values + 1j * source.standard_normal(tuple(output.shape))
        made.append(
            from_numpy(np.asarray(values, dtype=output.dtype.numpy)).to(output.device).requires_grad_()
        )
    return made
