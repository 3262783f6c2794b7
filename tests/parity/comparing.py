"""Comparing raxis results with torch's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from raxis.tensor import Tensor
from tests.parity.bridge import to_torch
from tests.parity.holes import Tolerances

TOLERANCES: Tolerances = {
    torch.float64: (1e-9, 1e-9),
    torch.complex128: (1e-9, 1e-9),
    torch.float32: (1e-5, 1e-5),
    torch.complex64: (1e-5, 1e-5),
    torch.float16: (4e-3, 4e-3),
    torch.bfloat16: (2e-2, 2e-2),
}
"""(rtol, atol) by dtype. Half precision: torch rounds some intermediate values that raxis does not."""


def tensors_in(value: Any) -> list[Any]:
    """All tensors of either framework in a value, in order."""
    if isinstance(value, (torch.Tensor, Tensor)):
        return [value]
    if isinstance(value, dict):
        return [tensor for item in value.values() for tensor in tensors_in(item)]
    if isinstance(value, (tuple, list)):
        return [tensor for item in value for tensor in tensors_in(item)]
    return []


def assert_same(ours: Any, theirs: Any, *, values: bool = True, tolerances: Tolerances | None = None) -> None:
    """Equal structure, dtypes, shapes and (unless `values` is False) values."""
    if isinstance(theirs, (tuple, list)):
        assert isinstance(ours, (tuple, list)), f"got {type(ours).__name__}, expected {type(theirs).__name__}"
        assert len(ours) == len(theirs)
        for our_item, their_item in zip(ours, theirs, strict=True):
            assert_same(our_item, their_item, values=values, tolerances=tolerances)
    elif isinstance(theirs, dict):
        assert_same(list(ours.values()), list(theirs.values()), values=values, tolerances=tolerances)
    elif isinstance(theirs, torch.Tensor):
        assert isinstance(ours, Tensor), f"got {type(ours).__name__}, expected a tensor"
        _assert_same_tensor(to_torch(ours), theirs.detach(), values, tolerances)
    else:
        got = to_torch(ours)
        assert type(got) is type(theirs)
        assert not values or got == theirs or (str(got) == str(theirs) == "nan")


def _assert_same_tensor(
    ours: torch.Tensor, theirs: torch.Tensor, values: bool, tolerances: Tolerances | None
) -> None:
    assert ours.dtype == theirs.dtype, f"got dtype {ours.dtype}, expected {theirs.dtype}"
    assert ours.shape == theirs.shape, f"got shape {ours.shape}, expected {theirs.shape}"
    if not values or theirs.device.type == "meta":
        return
    rtol, atol = {**TOLERANCES, **(tolerances or {})}.get(theirs.dtype, (0.0, 0.0))
    torch.testing.assert_close(
        ours, theirs.resolve_conj().resolve_neg(), rtol=rtol, atol=atol, equal_nan=True
    )


def assert_same_views(
    ours: Sequence[Tensor], theirs: Sequence[torch.Tensor], our_inputs: Any, their_inputs: Any
) -> None:
    """Where torch returns a view of an input, so does raxis, with the same strides and offset."""
    for our_result, their_result in zip(ours, theirs, strict=True):
        for our_input, their_input in zip(our_inputs, their_inputs, strict=True):
            if not _shares_storage(their_result, their_input):
                continue
            assert our_result._storage is our_input._storage, "torch returns a view, raxis a copy"
            if their_result.numel():
                assert our_result._layout.strides == tuple(their_result.stride())
                assert our_result._offset == their_result.storage_offset()


def _shares_storage(first: torch.Tensor, second: torch.Tensor) -> bool:
    if (
        first.layout is not torch.strided
        or second.layout is not torch.strided
        or first.is_conj()
        or first.is_neg()
    ):
        return False
    address = first.untyped_storage().data_ptr()
    return address != 0 and address == second.untyped_storage().data_ptr()
