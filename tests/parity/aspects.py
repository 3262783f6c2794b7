"""What is checked of one sample: one function per aspect, named like it.

Each takes the case, the raxis callable and torch's sample, and raises if raxis differs.
"""

from __future__ import annotations

from typing import Any

import torch

import raxis
from raxis.tensor import Tensor
from tests.parity.bridge import to_raxis, to_torch
from tests.parity.catalogue import counterpart
from tests.parity.comparing import assert_same, assert_same_views, tensors_in


def values(case: Any, function: Any, sample: Any) -> None:
    """Results, and their strides where torch returns views; the operands stay as they were."""
    arguments = _arguments(sample)
    ours = to_raxis(arguments)
    theirs = _call(case.entry.op, arguments)
    before = to_raxis(arguments)
    result = _call(function, ours)
    assert_same(result, theirs, values=case.values, tolerances=case.tolerances)
    assert_same_views(tensors_in(result), tensors_in(theirs), tensors_in(ours), tensors_in(arguments))
    if case.values:
        assert_same(tensors_in(before), tensors_in(arguments))


def method(case: Any, function: Any, sample: Any) -> None:
    """The Tensor method gives what the function gives."""
    arguments = _arguments(sample)
    theirs = _call(case.entry.op, arguments)
    result = _call(getattr(Tensor, case.entry.method_variant.__name__), to_raxis(arguments))
    assert_same(result, theirs, values=case.values, tolerances=case.tolerances)


def errors(case: Any, function: Any, sample: Any) -> None:
    """Where torch raises, raxis raises the same class (or a subclass)."""
    arguments = _arguments(sample.sample_input)
    ours = to_raxis(arguments)
    try:
        _call(case.entry.op, arguments)
    except Exception as error:
        expected = type(error)
    else:
        return
    try:
        result = _call(function, ours)
    except expected:
        return
    raise AssertionError(f"torch raises {expected.__name__}, raxis returned {result!r:.200}")


def inplace(case: Any, function: Any, sample: Any) -> None:
    """The in-place form writes what torch's writes, returns its operand, or raises where torch raises."""
    arguments = _arguments(sample)
    ours = to_raxis(arguments)
    target = ours[0][0]
    variant = counterpart(case.entry.inplace_variant)
    assert variant is not None, f"raxis has no {case.entry.inplace_variant}"
    before = to_raxis(arguments[0][0])
    try:
        theirs = _call(case.entry.inplace_variant, arguments)
    except Exception as error:
        _assert_raises(type(error), variant, ours)
        assert_same(target, to_torch(before))
        return
    result = _call(variant, ours)
    assert result is target, "the in-place form must return its operand"
    assert_same(result, theirs, values=case.values, tolerances=case.tolerances)


def _assert_raises(expected: type[Exception], function: Any, arguments: Any) -> None:
    try:
        _call(function, arguments)
    except expected:
        return
    raise AssertionError(f"torch raises {expected.__name__}, raxis does not")


def out(case: Any, function: Any, sample: Any) -> None:
    """``out=`` fills the given tensors, also non-contiguous ones, and resizes empty ones."""
    arguments = _arguments(sample)
    ours = to_raxis(arguments)
    theirs = _call(case.entry.op, arguments)
    for make in (_filled_like, _strided_like, _empty_like) if tensors_in(theirs) else ():
        outputs = [make(tensor) for tensor in tensors_in(theirs)]
        given = outputs[0] if isinstance(theirs, torch.Tensor) else tuple(outputs)
        result = function(*ours[0], **ours[1], out=given)
        assert all(made is output for made, output in zip(tensors_in(result), outputs, strict=True))
        assert_same(given, theirs, values=case.values, tolerances=case.tolerances)


def _filled_like(tensor: torch.Tensor) -> Tensor:
    made: Tensor = to_raxis(torch.ones_like(tensor))
    return made


def _strided_like(tensor: torch.Tensor) -> Tensor:
    strides = [2 * stride for stride in tensor.contiguous().stride()]
    made: Tensor = to_raxis(torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype))
    return made


def _empty_like(tensor: torch.Tensor) -> Tensor:
    made: Tensor = to_raxis(torch.empty(0, dtype=tensor.dtype))
    return made


def gradients(case: Any, function: Any, sample: Any) -> None:
    """First derivatives with random cotangents; also through the in-place form."""
    theirs, ours = _differentiate(case, case.entry.op, function, sample)
    _assert_same_gradients(ours, theirs, case)
    variant = case.entry.inplace_variant
    if variant is not None and case.entry.supports_inplace_autograd and not sample.broadcasts_input:
        theirs, ours = _differentiate(case, _on_copy(variant), _on_copy(counterpart(variant)), sample)
        _assert_same_gradients(ours, theirs, case)


def second(case: Any, function: Any, sample: Any) -> None:
    """Second derivatives: the gradient of a random combination of the gradients."""
    theirs, ours = _differentiate(case, case.entry.op, function, sample, order=2)
    _assert_same_gradients(ours, theirs, case)


def _on_copy(variant: Any) -> Any:
    """An in-place form applied to a copy of its operand, so that leaves may be given."""
    return lambda input, *args, **kwargs: variant(input.clone(), *args, **kwargs)


def _differentiate(case: Any, torch_op: Any, raxis_op: Any, sample: Any, order: int = 1) -> tuple[Any, Any]:
    process, arguments = sample.output_process_fn_grad, _arguments(sample)
    leaves = [tensor for tensor in tensors_in(arguments) if tensor.requires_grad]
    memo: dict[int, Any] = {}
    ours = to_raxis(arguments, memo)
    our_leaves = [memo[id(leaf)] for leaf in leaves]
    for leaf in our_leaves:
        leaf.requires_grad = True
    torch.manual_seed(case.seed)
    try:
        theirs = _gradients_of(process(_call(torch_op, arguments)), leaves, order, torch.autograd.grad)
    except RuntimeError:
        return [], []  # not differentiable at this sample in torch
    torch.manual_seed(case.seed)
    result = (counterpart(process) or process)(_call(raxis_op, ours))
    return theirs, _gradients_of(result, our_leaves, order, raxis.autograd.grad)


def _gradients_of(results: Any, leaves: list[Any], order: int, grad: Any) -> list[Any]:
    """Gradients of the differentiable results; every order draws its cotangents from the same random stream."""
    for left in range(order, 0, -1):
        roots = [tensor for tensor in tensors_in(results) if tensor.requires_grad]
        if not roots:
            return [None] * len(leaves)
        cotangents = [_cotangent(root) for root in roots]
        results = grad(roots, leaves, cotangents, create_graph=left > 1, allow_unused=True)
    return list(results)


def _cotangent(root: Any) -> Any:
    dtype = getattr(torch, str(root.dtype).split(".")[1])
    made = torch.randn(tuple(root.shape), dtype=dtype)
    return made if isinstance(root, torch.Tensor) else to_raxis(made)


def _assert_same_gradients(ours: list[Any], theirs: list[Any], case: Any) -> None:
    for our_gradient, their_gradient in zip(ours, theirs, strict=True):
        if our_gradient is None and their_gradient is None:
            continue
        if our_gradient is None:
            assert not (case.values and their_gradient.any()), "raxis gives no gradient where torch gives one"
        elif their_gradient is None:
            assert not (case.values and to_torch(our_gradient).any()), (
                "raxis gives a gradient where torch gives none"
            )
        else:
            assert_same(our_gradient, their_gradient, values=case.values, tolerances=case.tolerances)


def _arguments(sample: Any) -> Any:
    """Positional and keyword arguments of a sample."""
    return (sample.input, *sample.args), dict(sample.kwargs)


def _call(function: Any, arguments: Any) -> Any:
    return function(*arguments[0], **arguments[1])
