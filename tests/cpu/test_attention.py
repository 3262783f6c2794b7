"""Attention's own kernels: against their decompositions on the reference interpreter in float64."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
import pytest

import raxis
from raxis import dtypes
from raxis.backends.reference.compiler import compile_program
from raxis.dtypes import HALF, DType
from raxis.layout import broadcast_shapes, contiguous_strides
from raxis.ops.plan import trace
from raxis.ops.table import OPS
from raxis.ptir.program import Program
from raxis_cpu import threads
from raxis_cpu.library import composites
from tests.cpu.test_library import laid_out, strides

KERNELS = composites(lambda buffer: buffer)
NAMES = ("_attention", "_attention_gradient")
SHAPES = (
    ((2, 3, 16, 8), (2, 3, 16, 8), (2, 3, 16, 8)),
    ((2, 5, 4), (2, 7, 4), (2, 7, 3)),
    ((37, 20), (53, 20), (53, 33)),
    ((3, 1, 70, 1), (1, 2, 1, 1), (2, 1, 5)),
    ((1, 200, 16), (2, 300, 16), (1, 300, 40)),
)
"""Of query, key and value."""
MASKS = ("", "causal", "float", "bool", "float row", "bool column", "float of heads", "nothing")
TOLERANCES = {dtypes.float16: 4e-3, dtypes.bfloat16: 3e-2, dtypes.float32: 2e-6, dtypes.float64: 1e-14}


@pytest.fixture
def three_threads() -> Iterator[None]:
    """Three threads during the test."""
    before = threads.get_num_threads()
    threads.set_num_threads(3)
    yield
    threads.set_num_threads(before)


def mask_of(rng: np.random.Generator, name: str, shapes: Sequence[Sequence[int]]) -> np.ndarray | None:
    """A mask; float ones hold -inf too, and "nothing" lets the first query see no key."""
    if name in ("", "causal"):
        return None
    batch = broadcast_shapes(*(shape[:-2] for shape in shapes))
    rows, columns = shapes[0][-2], shapes[1][-2]
    kind, _, part = name.partition(" ")
    size = {"row": (columns,), "column": (rows, 1), "of": (*batch, rows, columns)}.get(
        part.split()[0] if part else "", (rows, columns)
    )
    visible = rng.random(size) > 0.3
    if kind == "nothing":
        visible[0] = False
        return visible
    return visible if kind == "bool" else np.where(visible, rng.normal(size=size), -np.inf)


def tensors(arrays: Sequence[np.ndarray], dtype: DType) -> list[raxis.Tensor]:
    """Operands that a program is traced for."""
    kinds = [dtypes.bool_ if array.dtype == bool else dtype for array in arrays]
    return [raxis.empty(array.shape, dtype=kind) for array, kind in zip(arrays, kinds, strict=True)]


def program_of(
    name: str, arrays: Sequence[np.ndarray], dtype: DType, *, is_causal: bool, numbers: Sequence[int] = ()
) -> Program:
    """The decomposition of a call; `arrays` are the op's operands without a missing mask.

    `numbers` are the place in the sequence of random numbers, with which a quarter of the weights is dropped.
    """
    given: list[object] = [*tensors(arrays, dtype)]
    if len(given) < len(OPS[name].parameters) - 5:
        given.append(None)
    dropout = (0.25, *numbers) if numbers else (0.0, None, None)
    return trace(OPS[name], [*given, is_causal, 0.4, *dropout])[0]


def reference(
    program: Program, arrays: Sequence[np.ndarray], numbers: Sequence[int] = ()
) -> list[np.ndarray]:
    """What the interpreter computes from dense arrays."""
    results = [np.empty(value.type.shape, value.type.dtype.numpy) for value in program.results]
    memory = [*map(np.ascontiguousarray, arrays), *results]
    layouts = [contiguous_strides(array.shape) for array in memory]
    count = len(arrays)
    execute = compile_program(program, [*layouts[:count], *(None for _ in numbers)], layouts[count:])
    passed = list(chain.from_iterable((array.reshape(-1).view(np.uint8), 0) for array in memory))
    execute(*passed[: 2 * count], *numbers, *passed[2 * count :])
    return results


def run(
    name: str,
    program: Program,
    arrays: Sequence[np.ndarray],
    layout: str = "dense",
    numbers: Sequence[int] = (),
) -> list[np.ndarray] | None:
    """What the kernel computes; None if there is none."""
    placed = [buffer_of(laid_out(array, layout)) for array in arrays]
    results = [np.full(value.type.shape, 7, value.type.dtype.numpy) for value in program.results]
    targets = [buffer_of(result) for result in results]
    inputs = [*(item[2] for item in placed), *(None for _ in numbers)]
    kernel = KERNELS[name](program, inputs, [item[2] for item in targets])
    if kernel is None:
        return None
    for _ in range(2):
        passed = [list(chain.from_iterable(item[:2] for item in part)) for part in (placed, targets)]
        kernel(*passed[0], *numbers, *passed[1])
    return results


def buffer_of(array: np.ndarray) -> tuple[np.ndarray, int, tuple[int, ...]]:
    """The bytes, the offset of the first element, and the strides in elements."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    start = (array.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // array.itemsize
    return base.reshape(-1, order="A").view(np.uint8), start, strides(array)


def operands(
    rng: np.random.Generator, name: str, shapes: Sequence[Sequence[int]], mask: str
) -> list[np.ndarray]:
    """Float64 arrays in the order of the op's parameters."""
    arrays = [rng.normal(size=shape) for shape in shapes]
    if name == "_attention_gradient":
        batch = broadcast_shapes(*(shape[:-2] for shape in shapes))
        arrays.insert(0, rng.normal(size=(*batch, shapes[0][-2], shapes[2][-1])))
    found = mask_of(rng, mask, shapes)
    return arrays if found is None else [*arrays, found]


def converted(arrays: Sequence[np.ndarray], dtype: DType) -> list[np.ndarray]:
    return [array if array.dtype == bool else array.astype(dtype.numpy) for array in arrays]


def check(
    name: str,
    shapes: Sequence[Sequence[int]],
    mask: str,
    dtype: DType,
    layout: str = "dense",
    seed: int = 0,
    numbers: Sequence[int] = (),
) -> None:
    """Compare the kernel with the decomposition in float64 of the same numbers."""
    arrays = converted(operands(np.random.default_rng(seed), name, shapes, mask), dtype)
    is_causal = mask == "causal"
    program = program_of(name, arrays, dtype, is_causal=is_causal, numbers=numbers)
    found = run(name, program, arrays, layout, numbers)
    wide = converted(arrays, dtypes.float64)
    program = program_of(name, wide, dtypes.float64, is_causal=is_causal, numbers=numbers)
    wanted = reference(program, wide, numbers)
    assert found is not None
    for got, expected in zip(found, wanted, strict=True):
        scale = max(1.0, float(np.abs(expected).max()))
        error = np.abs(got.astype(np.float64) - expected).max()
        assert error <= TOLERANCES[dtype] * scale * 8, (error, scale)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_shapes_and_masks(name: str, shapes: Sequence[Sequence[int]], mask: str) -> None:
    for dtype in (dtypes.float32, dtypes.float64):
        check(name, shapes, mask, dtype)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", sorted(HALF, key=str), ids=str)
def test_half_precision(name: str, dtype: DType) -> None:
    for mask in ("", "float", "bool"):
        check(name, SHAPES[0], mask, dtype)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layout", ["transposed", "spread"])
def test_layouts(name: str, layout: str) -> None:
    for mask in ("", "float", "bool column", "float of heads"):
        check(name, SHAPES[0], mask, dtypes.float32, layout)
        check(name, SHAPES[1], mask, dtypes.float64, layout)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mask", ["", "causal", "float"])
@pytest.mark.usefixtures("three_threads")
def test_threads(name: str, mask: str) -> None:
    check(name, ((5, 300, 64), (5, 300, 64), (5, 300, 64)), mask, dtypes.float32)


def test_expanded_gradient_is_not_repeated_in_memory() -> None:
    shapes = SHAPES[0]
    arrays = operands(np.random.default_rng(1), "_attention_gradient", shapes, "")
    arrays[0] = np.broadcast_to(np.ones(()), arrays[0].shape)
    program = program_of("_attention_gradient", arrays, dtypes.float64, is_causal=False)
    results = [np.empty(value.type.shape) for value in program.results]
    placed = [(np.ones(1).view(np.uint8), 0, (0, 0, 0, 0)), *map(buffer_of, [*arrays[1:], *results])]
    layouts = [item[2] for item in placed]
    kernel = KERNELS["_attention_gradient"](program, layouts[:4], layouts[4:])
    assert kernel is not None
    kernel(*chain.from_iterable(item[:2] for item in placed))
    for got, wanted in zip(results, reference(program, arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "shapes", [((0, 4, 2),) * 3, ((2, 0, 2), (2, 3, 2), (2, 3, 2)), ((2, 3), (0, 3), (0, 3))]
)
def test_empty_operands_are_left_to_the_decomposition(name: str, shapes: Sequence[Sequence[int]]) -> None:
    arrays = operands(np.random.default_rng(0), name, shapes, "")
    assert run(name, program_of(name, arrays, dtypes.float64, is_causal=False), arrays) is None


@pytest.mark.parametrize("mask", ["", "causal"])
def test_not_a_number_stays_in_its_row(mask: str) -> None:
    arrays = operands(np.random.default_rng(0), "_attention", ((5, 4),) * 3, mask)
    arrays[0][1, 2] = np.nan
    arrays[0][3, 0] = np.inf
    program = program_of("_attention", arrays, dtypes.float64, is_causal=mask == "causal")
    found = run("_attention", program, arrays)
    assert found is not None
    with np.errstate(invalid="ignore"):
        (wanted,) = reference(program, arrays)
    np.testing.assert_array_equal(np.isnan(found[0]), np.isnan(wanted))
    np.testing.assert_allclose(found[0][[0, 2, 4]], wanted[[0, 2, 4]], rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("mask", ["", "causal", "bool", "float row"])
def test_dropped_weights(name: str, shapes: Sequence[Sequence[int]], mask: str) -> None:
    for dtype in (dtypes.float32, dtypes.float64):
        check(name, shapes, mask, dtype, numbers=(-(2**63), 2**40 + 1))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", sorted(HALF, key=str), ids=str)
def test_dropped_weights_through_copies(name: str, dtype: DType) -> None:
    check(name, SHAPES[0], "float", dtype, "transposed", numbers=(5, 0))


@pytest.mark.parametrize("dropout", [0.3, 1.0])
@pytest.mark.parametrize("is_causal", [False, True])
def test_dropout_is_that_of_the_weights(dropout: float, is_causal: bool) -> None:
    raxis.manual_seed(1)
    query, key, value = (raxis.randn(2, 3, 33, 8).requires_grad_() for _ in range(3))
    results = []
    for fused in (True, False):
        raxis.manual_seed(2)
        if fused:
            found = raxis.nn.functional.scaled_dot_product_attention(
                query, key, value, dropout_p=dropout, is_causal=is_causal
            )
        else:
            scores = query @ key.transpose(-2, -1) / 8**0.5
            if is_causal:
                scores = scores.masked_fill(~raxis.ones(33, 33, dtype=raxis.bool).tril(), -np.inf)
            found = raxis.nn.functional.dropout(scores.softmax(-1), dropout) @ value
        grads = raxis.autograd.grad((found * found).sum(), (query, key, value))
        results.append([found, *grads, raxis.rand(3)])
    for ours, expected in zip(*results, strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), expected.detach().numpy(), rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("mask", [(7, 9), (1, 7, 9), (6, 7, 9), (2, 6, 7, 9), (2, 1, 7, 9)], ids=str)
def test_grouped_queries_are_those_of_repeated_heads(mask: tuple[int, ...]) -> None:
    raxis.manual_seed(0)
    query = raxis.randn(2, 7, 6, 4).transpose(1, 2).requires_grad_()
    key, value = (raxis.randn(2, 2, 9, 4).requires_grad_() for _ in range(2))
    attend, bias = raxis.nn.functional.scaled_dot_product_attention, raxis.randn(*mask)
    repeated = [operand.repeat_interleave(3, -3) for operand in (key, value)]
    results = [
        attend(query, key, value, attn_mask=bias, enable_gqa=True), attend(query, *repeated, attn_mask=bias)
    ]  # fmt: skip
    grads = [raxis.autograd.grad(result.sin().sum(), (query, key, value)) for result in results]
    for ours, expected in zip([results[0], *grads[0]], [results[1], *grads[1]], strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5)
