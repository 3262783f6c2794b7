"""Optimising one function in PyTorch and in Raxis."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import torch

import raxis

START = [np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([0.3, -0.7, 1.1])]


def parameters(framework: ModuleType) -> list[Any]:
    """Two parameters with the same float64 values in both."""
    convert = framework.from_numpy
    return [framework.nn.Parameter(convert(values.copy())) for values in START]


def loss(params: list[Any]) -> Any:
    """A function without symmetries whose gradient changes from step to step."""
    return (params[0] ** 2).sum() + (params[0].sum() * params[1]).sin().sum() + (params[1] ** 4).sum()


def step(optimizer: Any, params: list[Any]) -> Any:
    optimizer.zero_grad()
    value = loss(params)
    value.backward()
    optimizer.step()
    return value


def values(tensors: Any) -> list[np.ndarray]:
    return [tensor.detach().numpy().copy() for tensor in tensors]


def assert_equal_values(ours: Any, theirs: Any, rtol: float = 1e-10) -> None:
    for one, other in zip(values(ours), values(theirs), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-12)


def to_raxis(value: Any) -> Any:
    """PyTorch tensors in a state dict as Raxis tensors."""
    if isinstance(value, torch.Tensor):
        return raxis.from_numpy(value.detach().numpy().copy())
    if isinstance(value, dict):
        return {key: to_raxis(part) for key, part in value.items()}
    return [to_raxis(part) for part in value] if isinstance(value, list) else value


def to_torch(value: Any) -> Any:
    """Raxis tensors in a state dict as PyTorch tensors."""
    if isinstance(value, raxis.Tensor):
        return torch.from_numpy(value.detach().numpy().copy())
    if isinstance(value, dict):
        return {key: to_torch(part) for key, part in value.items()}
    return [to_torch(part) for part in value] if isinstance(value, list) else value
