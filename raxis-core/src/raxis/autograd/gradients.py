"""The public ways into the backward pass: `backward` and `grad`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from raxis.autograd.engine import run_backward
from raxis.autograd.record import constant_of
from raxis.interception import active, anyone
from raxis.tensor import Tensor

TensorOrTensors = Tensor | Sequence[Tensor]


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if value is None or isinstance(value, Tensor):
        return (value,)
    if not isinstance(value, Iterable):
        raise TypeError(f"expected a Tensor or a sequence of them, but got {type(value).__name__}.")
    return tuple(value)


def _root_gradients(roots: Sequence[Tensor], given: Any) -> list[Tensor]:
    if given is None and len(roots) == 1:
        return [_root_gradient(roots[0], None)]
    gradients = (None,) * len(roots) if given is None else _as_tuple(given)
    if len(gradients) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(gradients)} gradients")
    return [_root_gradient(root, gradient) for root, gradient in zip(roots, gradients, strict=True)]


def _root_gradient(root: Tensor, gradient: Tensor | None) -> Tensor:
    layout = root._layout
    if root._edge is None:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    if gradient is None:
        if layout.numel != 1:
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs, but the output has shape "
                f"{list(layout.shape)}; pass the gradient of the output, or reduce it to a scalar first."
            )
        if not layout.dtype.is_floating_point:
            raise RuntimeError(
                f"grad can be implicitly created only for real scalar outputs but got {root.dtype}"
            )
        return constant_of(layout, 1)
    if not isinstance(gradient, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if gradient._layout.device.base is not layout.device.base:
        raise RuntimeError(
            f"invalid gradient at index 0 - expected device {layout.device} but got {gradient._layout.device}"
        )
    if gradient._layout.shape != layout.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[0] has a shape of {gradient.shape} and output[0] has a shape of "
            f"{root.shape}."
        )
    return gradient


def backward(
    tensors: TensorOrTensors,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: TensorOrTensors | None = None,
) -> None:
    """Add the gradients of `tensors` to the ``grad`` of the leaves they were computed from.

    Args:
        tensors: the tensors to differentiate; scalars unless `grad_tensors` is given.
        grad_tensors: gradient of the final quantity with respect to each of `tensors`.
        retain_graph: keep what was saved for another backward; default: the value of `create_graph`.
        create_graph: record the backward pass itself, for higher derivatives.
        inputs: accumulate into these leaves only.

    Raises:
        RuntimeError: if nothing requires grad, a shape does not match, or the graph was already freed.

    Example:
        >>> import raxis
        >>> x = raxis.tensor([1.0, 2.0], requires_grad=True)
        >>> raxis.autograd.backward((x * x).sum())
        >>> x.grad
        tensor([2., 4.])
    """
    keep = create_graph if retain_graph is None else retain_graph
    roots = _as_tuple(tensors)
    if inputs is None:
        gradients = _root_gradients(roots, grad_tensors)
        run_backward(roots, gradients, keep_graph=keep, create_graph=create_graph)
        return
    wanted = _as_tuple(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    gradients = _root_gradients(roots, grad_tensors)
    for tensor, found in zip(
        wanted,
        run_backward(roots, gradients, keep_graph=keep, create_graph=create_graph, inputs=wanted),
        strict=True,
    ):
        if not tensor.is_leaf and found is not None:
            if anyone.records and active.recording is not None:
                active.recording.note_grad(tensor)
            tensor._grad = found if tensor._grad is None else tensor._grad + found


def grad(
    outputs: TensorOrTensors,
    inputs: TensorOrTensors,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of `outputs` with respect to `inputs`; no ``grad`` is changed.

    Args:
        outputs: the tensors to differentiate.
        inputs: with respect to which.
        grad_outputs: gradient of the final quantity with respect to each output.
        retain_graph: keep what was saved; default: the value of `create_graph`.
        create_graph: record the backward pass itself.
        allow_unused: return None for inputs that do not influence the outputs, instead of raising.
        is_grads_batched: `grad_outputs` has a leading batch dimension; one backward runs for each entry.
        materialize_grads: return zeros instead of None.

    Raises:
        RuntimeError: if an input was not used, does not require grad, or the graph was freed.
    """
    roots, wanted = _as_tuple(outputs), _as_tuple(inputs)
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got False."
        )
    for tensor in wanted:
        if tensor._edge is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    if is_grads_batched:
        return _batched(
            roots, wanted, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads
        )
    gradients = _root_gradients(roots, grad_outputs)
    keep = create_graph if retain_graph is None else retain_graph
    found = run_backward(
        roots, gradients, keep_graph=keep, create_graph=create_graph, inputs=wanted, accumulate=False
    )
    return tuple(
        _result(tensor, gradient, bool(allow_unused) or materialize_grads, materialize_grads)
        for tensor, gradient in zip(wanted, found, strict=True)
    )


def _result(tensor: Tensor, gradient: Tensor | None, allow: bool, materialize: bool) -> Tensor | None:
    if gradient is None and not allow:
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if "
            "this is the desired behavior."
        )
    if gradient is None and materialize:
        return constant_of(tensor._layout, 0)
    return gradient


def _batched(
    roots: tuple[Tensor, ...], wanted: tuple[Tensor, ...], grad_outputs: Any, retain_graph: bool | None,
    create_graph: bool, allow_unused: bool | None, materialize: bool,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    from raxis.ops.definitions.joining import stack

    batches = _as_tuple(grad_outputs)
    count = batches[0].shape[0]
    rows = []
    for index in range(count):
        keep = True if index + 1 < count else retain_graph
        row = [batch[index] for batch in batches]
        rows.append(grad(roots, wanted, row, keep, create_graph, allow_unused, False, materialize))
    return tuple(None if column[0] is None else stack(column) for column in zip(*rows, strict=True))
