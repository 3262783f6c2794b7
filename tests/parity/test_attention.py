"""Attention against torch."""

from __future__ import annotations

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

import raxis
import raxis.nn.functional as F
from tests.parity import opinfo
from tests.parity.bridge import to_raxis, to_torch

CASES = [
    *opinfo.cases("nn.functional.scaled_dot_product_attention"),
    *opinfo.cases(
        "nn.functional.multi_head_attention_forward", dtypes=[torch.float32, torch.float64], limit=16
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


def gradients(library, attend, operands, order=1, **options):
    """The result and its gradients; of second order, those of the gradients' squares."""
    for operand in operands:
        operand.requires_grad = True
    result = attend(*operands, **options)
    found = library.autograd.grad(result.sin().sum(), operands, create_graph=order > 1)
    if order > 1:
        found = library.autograd.grad(sum((grad * grad).sum() for grad in found), operands)
    return [result, *found]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("mask", [None, "bool", "float", "causal"])
def test_gradients(order: int, mask: str | None) -> None:
    torch.manual_seed(0)
    operands = [torch.randn(2, 3, size, 4, dtype=torch.float64) for size in (5, 6, 6)]
    options, ours_options = {"is_causal": mask == "causal"}, {"is_causal": mask == "causal"}
    if mask in ("bool", "float"):
        given = torch.rand(5, 6, dtype=torch.float64)
        given = given > 0.4 if mask == "bool" else given
        options["attn_mask"], ours_options["attn_mask"] = given, to_raxis(given)
    ours = [to_raxis(operand) for operand in operands]
    with sdpa_kernel(SDPBackend.MATH):  # the only one of torch's with second derivatives
        expected = gradients(
            torch, torch.nn.functional.scaled_dot_product_attention, operands, order, **options
        )
    found = gradients(raxis, F.scaled_dot_product_attention, ours, order, **ours_options)
    for got, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(to_torch(got), wanted.detach())


def test_mask_gradient_is_summed_over_the_batch() -> None:
    torch.manual_seed(0)
    operands = [torch.randn(2, 4, 3, dtype=torch.float64) for _ in range(3)]
    mask = torch.randn(4, 4, dtype=torch.float64)
    ours, our_mask = [to_raxis(operand) for operand in operands], to_raxis(mask)
    mask.requires_grad_()
    our_mask.requires_grad = True
    torch.nn.functional.scaled_dot_product_attention(*operands, mask).sin().sum().backward()
    F.scaled_dot_product_attention(*ours, our_mask).sin().sum().backward()
    torch.testing.assert_close(to_torch(our_mask.grad), mask.grad)


def test_queries_that_see_nothing_give_zero() -> None:
    q = raxis.ones(1, 2, 3, requires_grad=True)
    mask = raxis.tensor([[True, True], [False, False]])
    result = F.scaled_dot_product_attention(q, q, q, mask)
    result.sum().backward()
    assert result[0, 1].tolist() == [0.0] * 3
    assert not to_torch(q.grad).isnan().any()


def test_grouped_queries() -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, heads, 5, 4) for heads in (6, 2, 2))
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    found = F.scaled_dot_product_attention(*map(to_raxis, (q, k, v)), enable_gqa=True)
    torch.testing.assert_close(to_torch(found), expected)


def multi_head(library, operand, tensors, **options):
    """Self-attention of 4 features in 2 heads."""
    weight, bias, out_weight, bias_k, bias_v = tensors
    attend = library.nn.functional.multi_head_attention_forward
    return attend(
        operand, operand, operand, 4, 2, weight, bias, bias_k, bias_v, True, 0.0, out_weight, None, **options
    )  # fmt: skip


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("average", [False, True])
def test_multi_head_masks(batched: bool, need_weights: bool, average: bool) -> None:
    torch.manual_seed(0)
    operand = torch.randn(5, 2, 4) if batched else torch.randn(5, 4)
    tensors = [
        torch.randn(12, 4),
        torch.randn(12),
        torch.randn(4, 4),
        torch.randn(1, 1, 4),
        torch.randn(1, 1, 4),
    ]
    padding = torch.zeros((2, 5) if batched else (5,), dtype=torch.bool)
    padding[..., -1] = True
    options = {"key_padding_mask": padding, "attn_mask": torch.ones(5, 5).tril() == 0}
    expected = multi_head(
        torch, operand, tensors, need_weights=need_weights, average_attn_weights=average, **options
    )
    ours = {name: to_raxis(mask) for name, mask in options.items()}
    found = multi_head(
        raxis,
        to_raxis(operand),
        to_raxis(tensors),
        need_weights=need_weights,
        average_attn_weights=average,
        **ours,
    )
    for got, wanted in zip(found, expected, strict=True):
        assert (got is None) == (wanted is None)
        if got is not None:
            torch.testing.assert_close(to_torch(got), wanted)


@pytest.mark.parametrize(
    ("shapes", "options"),
    [
        (((2, 3), (2, 4), (2, 4)), {}),
        (((3,), (3,), (3,)), {}),
        (((2, 3), (2, 3), (2, 3)), {"is_causal": True, "attn_mask": raxis.ones(2, 2)}),
        (((2, 3), (2, 3), (2, 3)), {"attn_mask": raxis.ones(2, 2, dtype=raxis.float64)}),
    ],
)
def test_errors(shapes, options) -> None:
    with pytest.raises(RuntimeError):
        F.scaled_dot_product_attention(*[raxis.ones(*shape) for shape in shapes], **options)
