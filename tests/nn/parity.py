"""Running one module in PyTorch and in Raxis, with the same weights, inputs and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import raxis


def to_raxis(value: Any) -> Any:
    """A PyTorch tensor (or structure of them) as a Raxis tensor that shares nothing with it."""
    if isinstance(value, torch.Tensor):
        converted = raxis.from_numpy(value.detach().numpy().copy())
        return converted.requires_grad_() if value.requires_grad else converted
    if isinstance(value, (tuple, list)):
        return type(value)(to_raxis(part) for part in value)
    if isinstance(value, dict):
        return {key: to_raxis(part) for key, part in value.items()}
    return value


def to_numpy(tensor: Any) -> np.ndarray:
    return tensor.detach().numpy()


def assert_same(actual: Any, expected: Any, rtol: float = 1e-9, atol: float = 1e-9) -> None:
    """A Raxis tensor equals a PyTorch tensor, dtype and shape included."""
    if expected is None:
        assert actual is None
        return
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_same(one, other, rtol, atol)
        return
    assert to_numpy(actual).dtype == to_numpy(expected).dtype
    assert tuple(actual.shape) == tuple(expected.shape)
    np.testing.assert_allclose(to_numpy(actual), to_numpy(expected), rtol=rtol, atol=atol)


def build_pair(name: str, *args: Any, **kwargs: Any) -> tuple[Any, torch.nn.Module]:
    """The module `nn.<name>` of both, with float64 parameters and the same values in them."""
    reference = getattr(torch.nn, name)(*args, **kwargs).double()
    module = getattr(raxis.nn, name)(*to_raxis(args), **to_raxis(kwargs)).double()
    if reference.state_dict():
        for tensor in reference.state_dict().values():
            if tensor.is_floating_point():
                torch.nn.init.uniform_(tensor, 0.1, 1.0)
        module.load_state_dict(to_raxis(dict(reference.state_dict())))
    return module, reference


def assert_module_matches(
    module: Any, reference: torch.nn.Module, *inputs: torch.Tensor, rtol: float = 1e-9
) -> None:
    """Value, gradients of inputs and parameters, and buffers afterwards agree."""
    copies = [to_raxis(tensor) for tensor in inputs]
    expected = reference(*inputs)
    actual = module(*copies)
    assert_same(actual, expected, rtol)
    first_expected = expected[0] if isinstance(expected, tuple) else expected
    first_actual = actual[0] if isinstance(actual, tuple) else actual
    if first_expected.requires_grad:
        seed = torch.rand_like(first_expected)
        first_expected.backward(seed)
        first_actual.backward(to_raxis(seed))
    for copy, original in zip(copies, inputs, strict=True):
        assert_same(copy.grad, original.grad, rtol)
    for (name, parameter), (other, wanted) in zip(
        module.named_parameters(), reference.named_parameters(), strict=True
    ):
        assert name == other
        assert_same(parameter.grad, wanted.grad, rtol)
    for (name, buffer), (other, wanted) in zip(
        module.named_buffers(), reference.named_buffers(), strict=True
    ):
        assert name == other
        assert_same(buffer, wanted)
