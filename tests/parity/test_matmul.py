"""Products of matrices and vectors against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import raxis
from tests.parity import opinfo
from tests.parity.bridge import to_torch

pytestmark = pytest.mark.filterwarnings("ignore:Using torch.cross without specifying the dim:UserWarning")

CASES = opinfo.cases(
    "__rmatmul__", "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "cross", "dot", "einsum", "inner", "kron",
    "linalg.cross", "linalg.multi_dot", "linalg.vecdot", "matmul", "mm", "mv", "nn.functional.bilinear",
    "nn.functional.linear", "outer", "tensordot", "trace", "vdot",
    limit=12,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


SHAPES = [
    ((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,)),
    ((2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)), ((5, 1, 2, 3), (6, 3, 4)), ((5, 2, 3), (1, 3, 4)), ((0, 3), (3, 4)),
    ((2, 0), (0, 4)), ((4, 0, 3), (4, 3, 2)), ((7, 5, 2, 3), (3, 4)), ((1, 1), (1, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_matmul_of_all_ranks(left: tuple[int, ...], right: tuple[int, ...], rng: np.random.Generator) -> None:
    arrays = [rng.standard_normal(left), rng.standard_normal(right)]
    theirs = [torch.tensor(array, requires_grad=True) for array in arrays]
    ours = [raxis.tensor(array, requires_grad=True) for array in arrays]
    expected, result = theirs[0] @ theirs[1], ours[0] @ ours[1]
    torch.testing.assert_close(to_torch(result.detach()), expected.detach())
    cotangent = rng.standard_normal(tuple(expected.shape))
    expected.backward(torch.tensor(cotangent))
    result.backward(raxis.tensor(cotangent))
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(to_torch(mine.grad), other.grad)


def test_transposed_and_strided_operands(rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((6, 8)), rng.standard_normal((10, 6))
    ours, theirs = (raxis.from_numpy(a), raxis.from_numpy(b)), (torch.from_numpy(a), torch.from_numpy(b))
    for product in (
        lambda x, y: x.t() @ y.t(),
        lambda x, y: x.t()[::2] @ y.t()[:, 1:],
        lambda x, y: y @ x.flip(1),
    ):
        torch.testing.assert_close(to_torch(product(*ours)), product(*theirs))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x @ x, r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 2x3\)"),
        (lambda x: x.mm(x), r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 2x3\)"),
        (
            lambda x: x.mm(x.double().t()),
            "expected m1 and m2 to have the same dtype, but got: float != double",
        ),
        (lambda x: x.mm(x[0]), "mat2 must be a matrix"),
        (lambda x: x @ x[:, 0], r"size mismatch, got input \(2\), mat \(2x3\), vec \(2\)"),
        (lambda x: x[0] @ x[:, 0], "inconsistent tensor size"),
        (lambda x: x @ x.sum(), "both arguments to matmul need to be at least 1D, but they are 2D and 0D"),
        (
            lambda x: x.expand(2, 2, 3).bmm(x.expand(2, 2, 3)),
            "Expected size for first two dimensions of batch2",
        ),
        (lambda x: x.expand(4, 2, 3) @ x, r"mat1 and mat2 shapes cannot be multiplied \(8x3 and 2x3\)"),
        (lambda x: raxis.nn.functional.linear(x, raxis.ones(4, 2)), r"cannot be multiplied \(2x3 and 2x4\)"),
        (lambda x: raxis.addmm(raxis.ones(5), x, x.t()), r"The expanded size of the tensor \(2\) must match"),
    ],
)
def test_errors_name_the_shapes(call: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call(raxis.ones(2, 3))


def test_matmul_operator_leaves_other_types_alone() -> None:
    with pytest.raises(TypeError):
        raxis.ones(2, 2) @ 3


@pytest.mark.parametrize("name", ["addmm", "addmv", "addbmm", "baddbmm", "addr"])
def test_beta_zero_hides_nan(name: str) -> None:
    operands = {
        "addmm": [(2, 3), (3, 2)], "addmv": [(2, 3), (3,)], "addbmm": [(2, 2, 3), (2, 3, 2)],
        "baddbmm": [(2, 2, 3), (2, 3, 2)], "addr": [(2,), (2,)],
    }[name]  # fmt: skip
    ours = [raxis.ones(*shape) for shape in operands]
    found = getattr(raxis, name)(raxis.tensor(float("nan")), *ours, beta=0, alpha=2)
    theirs = [torch.ones(shape) for shape in operands]
    expected = getattr(torch, name)(torch.tensor(float("nan")), *theirs, beta=0, alpha=2)
    assert found.tolist() == expected.tolist()


EQUATIONS = [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]),
    ("i,j->ij", [(2,), (3,)]), ("ij,ij->", [(2, 3), (2, 3)]), ("ij,ij->ij", [(2, 3), (2, 3)]), ("ij->j", [(2, 3)]),
    ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]), ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]),
    ("...i,...i->...", [(4, 1, 3), (5, 3)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("ba,ab->ab", [(3, 2), (2, 3)]),
    ("iij,jk->ik", [(2, 2, 3), (3, 4)]), ("i,i,i->i", [(3,), (3,), (3,)]), ("ij,kl->", [(2, 3), (4, 5)]),
    ("Ab,bA", [(2, 3), (3, 2)]), ("b...a->a...", [(2, 5, 3)]), ("ij,jk->ik", [(2, 1), (3, 4)]),
    (" i j , j k ", [(2, 3), (3, 4)]),
]  # fmt: skip


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS)
def test_einsum(equation: str, shapes: list[tuple[int, ...]], rng: np.random.Generator) -> None:
    arrays = [rng.standard_normal(shape) for shape in shapes]
    theirs = [torch.tensor(array, requires_grad=True) for array in arrays]
    ours = [raxis.tensor(array, requires_grad=True) for array in arrays]
    expected, result = torch.einsum(equation, *theirs), raxis.einsum(equation, *ours)
    torch.testing.assert_close(to_torch(result.detach()), expected.detach())
    expected.square().sum().backward()
    (result * result).sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(to_torch(mine.grad), other.grad)


def test_einsum_of_sublists_and_lists() -> None:
    a, b = raxis.ones(2, 3), raxis.ones(3, 4)
    assert raxis.einsum(a, [0, 1], b, [1, 2], [2, 0]).shape == (4, 2)
    assert raxis.einsum(a, [..., 0], b, [0, 1]).shape == (2, 4)
    assert raxis.einsum("ij,jk", [a, b]).shape == (2, 4)


@pytest.mark.parametrize(
    ("equation", "shapes", "message"),
    [
        ("ij,jk->ik", [(2, 3), (2, 3)], "subscript j has size 2 for operand 1 which does not broadcast"),
        ("ij,jk->iz", [(2, 3), (3, 4)], "output subscript z does not appear in the equation"),
        ("ijk->i", [(2, 3)], r"the number of subscripts in the equation \(3\) does not match"),
        ("i1->i", [(2, 3)], "invalid subscript given at index 1"),
        ("ij,->i", [(2, 3)], "fewer operands were provided"),
        ("ij", [(2, 3), (2, 3)], "more operands were provided"),
        ("ij->ii", [(2, 3)], "output subscript i appears more than once"),
        ("ii->i", [(2, 3)], "subscript i is repeated for operand 0 but the sizes don't match, 3 != 2"),
        ("i...j...->i", [(2, 3)], "for which an ellipsis was already found"),
        ("i.j->i", [(2, 3)], "that is not part of any ellipsis"),
    ],
)
def test_einsum_errors(equation: str, shapes: list[tuple[int, ...]], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        raxis.einsum(equation, *[raxis.ones(*shape) for shape in shapes])


def test_half_precision_sums_in_float32() -> None:
    ones = raxis.ones(1, 4096, dtype=raxis.bfloat16)
    assert (ones @ ones.t()).item() == 4096
    assert raxis.einsum("ij,ij->", ones, ones).item() == 4096


def test_chains_multiply_in_the_cheapest_order(rng: np.random.Generator) -> None:
    arrays = [rng.standard_normal(shape) for shape in ((2, 30), (30, 1), (1, 40), (40, 3))]
    ours = [raxis.from_numpy(array) for array in arrays]
    for product in (raxis.chain_matmul(*ours), raxis.linalg.multi_dot(ours)):
        np.testing.assert_allclose(product.numpy(), np.linalg.multi_dot(arrays))


@pytest.mark.parametrize("n", [0, 1, 2, 5, 8])
def test_matrix_power(n: int, rng: np.random.Generator) -> None:
    array = rng.standard_normal((2, 3, 3))
    power = raxis.matrix_power(raxis.from_numpy(array), n)
    np.testing.assert_allclose(power.numpy(), np.linalg.matrix_power(array, n), rtol=1e-12)
    with pytest.raises(RuntimeError, match="square"):
        raxis.matrix_power(raxis.ones(2, 3), n)
