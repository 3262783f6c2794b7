"""In-place writes to views under the tape, against torch: chains, several views of one base, leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import raxis
from tests.parity.bridge import to_raxis, to_torch


def write_a_row(x: Any, y: Any) -> Any:
    z = x * 2
    z[0] = y
    return z * z


def write_through_a_chain(x: Any, y: Any) -> Any:
    z = x * 3
    z.t()[1:][0].mul_(y[:2])
    return z.sin()


def read_a_view_made_before(x: Any, y: Any) -> Any:
    z = x * 3
    early = z[:, 1]
    z[0, :] = y
    return early * 5 + z.sum()


def write_two_views(x: Any, y: Any) -> Any:
    z = x * 1
    left, right = z[:, :2], z[:, 1:]
    left.mul_(2)
    right.add_(y[1:])
    left.mul_(y[:2])
    return z * right.sum() + left.sum()


def write_base_then_read_view(x: Any, y: Any) -> Any:
    z = x * 2
    view = z.view(-1)
    z.mul_(y)
    return view * view


def write_at_index_tensors(x: Any, y: Any) -> Any:
    z = x.clone()
    z[[1, 0], [2, 0]] = y[:2]
    return z * x


def accumulate_at_repeated_indices(x: Any, y: Any) -> Any:
    z = x * 2
    index = x.new_zeros(3).long()
    return z.index_put((index, index), y, accumulate=True) * x


def write_under_a_mask(x: Any, y: Any) -> Any:
    z = x * 2
    z[z > 0] = y.sum()
    return z * x


def write_into_an_expanded_operand(x: Any, y: Any) -> Any:
    z = y.expand(2, 3).clone()
    z[1].copy_(x[0])
    z[:, ::2] *= x[:, :2]
    return z


def write_a_view_with_a_sibling(x: Any, y: Any) -> Any:
    z = x * 1
    z[0].mul_(z[1].clone())
    return z * y


def overlapping_windows(x: Any, y: Any) -> Any:
    windows = (x * 1).flatten().unfold(0, 3, 1)
    return windows * y


def strided_view(x: Any, y: Any) -> Any:
    return (x * 2).as_strided((2, 2), (1, 2)) * y[:2]


def strided_view_written(x: Any, y: Any) -> Any:
    z = x * 2
    z.as_strided((2, 2), (3, 1), 1).mul_(y[0])
    return z


def pieces_of_a_split(x: Any, y: Any) -> Any:
    first, second = (x * 2).split([1, 2], dim=1)
    return first * second + y[:2]


def fill_and_zero(x: Any, y: Any) -> Any:
    z = x * 2
    z[0].fill_(3.0)
    z[:, 1].zero_()
    return z * x * y


def in_place_transposition(x: Any, y: Any) -> Any:
    z = x * 2
    z.t_()
    z.unsqueeze_(0)
    return z.squeeze_(0) * x.t()


def diagonal_written(x: Any, y: Any) -> Any:
    z = x * 2
    z.diagonal().mul_(y[:2])
    return z.sin()


SCENARIOS = [
    write_a_row, write_through_a_chain, read_a_view_made_before, write_two_views, write_base_then_read_view,
    write_at_index_tensors, accumulate_at_repeated_indices, write_under_a_mask, write_into_an_expanded_operand,
    write_a_view_with_a_sibling, overlapping_windows, strided_view, strided_view_written, pieces_of_a_split,
    fill_and_zero, in_place_transposition, diagonal_written,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_gradients_of_writes(scenario: Callable[[Any, Any], Any]) -> None:
    torch.manual_seed(7)
    theirs = [torch.randn(2, 3, dtype=torch.float64), torch.randn(3, dtype=torch.float64)]
    if scenario is accumulate_at_repeated_indices:
        theirs[0] = torch.randn(1, 1, dtype=torch.float64)
    ours = [to_raxis(tensor) for tensor in theirs]
    for tensor in (*theirs, *ours):
        tensor.requires_grad = True
    expected, result = scenario(*theirs), scenario(*ours)
    torch.testing.assert_close(to_torch(result), expected.detach())
    expected.sum().backward()
    result.sum().backward()
    for our_leaf, their_leaf in zip(ours, theirs, strict=True):
        if their_leaf.grad is None:
            assert our_leaf.grad is None
        else:
            torch.testing.assert_close(to_torch(our_leaf.grad), their_leaf.grad)


def _write_leaf(module: Any) -> None:
    module.ones(2, requires_grad=True).add_(1)


def _write_view_of_leaf(module: Any) -> None:
    x = module.ones(2, requires_grad=True)
    x[0] = 1.0


def _write_indexed_leaf(module: Any) -> None:
    x = module.ones(2, requires_grad=True)
    x[[0, 1]] = 1.0


def _write_masked_leaf(module: Any) -> None:
    x = module.ones(2, requires_grad=True)
    x[x > 0] = 1.0


def _write_one_of_several_views(module: Any) -> None:
    x = module.ones(2, requires_grad=True) * 2
    x.unbind(0)[0].mul_(2)


def _write_expanded(module: Any) -> None:
    module.zeros(1, 3).expand(2, 3).add_(1)


def _overwrite_what_is_saved(module: Any) -> None:
    x = module.ones(2, requires_grad=True)
    y = x * 2
    z = y * y
    y[0] = 1.0
    z.sum().backward()


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (_write_leaf, "a leaf Variable that requires grad"),
        (_write_view_of_leaf, "a view of a leaf Variable that requires grad"),
        (_write_indexed_leaf, "a leaf Variable that requires grad"),
        (_write_masked_leaf, "a leaf Variable that requires grad"),
        (
            _write_one_of_several_views,
            "function that returns multiple views|is a view and is being modified inplace",
        ),
        (
            _write_expanded,
            "more than one element of the written-to tensor refers to a single memory location",
        ),
        (_overwrite_what_is_saved, "modified by an inplace operation"),
    ],
)
def test_forbidden_writes(attempt: Callable[[Any], None], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        attempt(torch)
    with pytest.raises(RuntimeError, match=message):
        attempt(raxis)


def test_a_failed_assignment_changes_nothing() -> None:
    x = raxis.zeros(2, 3)
    for index, value in ((0, raxis.ones(2)), ([0, 5], 1.0), ([0, 1], raxis.ones(4)), (0, 1j)):
        with pytest.raises((RuntimeError, IndexError)):
            x[index] = value
    assert x.tolist() == [[0.0] * 3] * 2
    assert x._version == 0


def test_leaves_may_be_written_without_the_tape() -> None:
    x = raxis.ones(2, requires_grad=True)
    with raxis.no_grad():
        x[0] = 3.0
    assert x.tolist() == [3.0, 1.0]
    assert x.is_leaf


def test_overlapping_and_disjoint_parts_of_one_tensor() -> None:
    x = raxis.arange(6)
    x[1:].copy_(x[:-1])
    assert x.tolist() == [0, 0, 1, 2, 3, 4]
    x[:3].add_(x[3:])
    assert x.tolist() == [2, 3, 5, 2, 3, 4]
    x[::2].mul_(x[1::2])
    assert x.tolist() == [6, 3, 10, 2, 12, 4]


def test_overlapping_operands_keep_their_strides_and_gradients() -> None:
    x = raxis.ones(2, 3, requires_grad=True)
    y = x * raxis.tensor([1.0, 2.0, 3.0])
    y[:, :2].add_(y[:, 1:])
    y.t()[:2].add_(y[0].expand(2, 3)[:, :2])
    (y * y).sum().backward()
    theirs = torch.ones(2, 3, requires_grad=True)
    z = theirs * torch.tensor([1.0, 2.0, 3.0])
    z[:, :2].add_(z[:, 1:].clone())
    z.t()[:2].add_(z[0].clone().expand(2, 3)[:, :2])
    (z * z).sum().backward()
    assert y.tolist() == z.tolist()
    assert x.grad is not None
    assert x.grad.tolist() == theirs.grad.tolist()
