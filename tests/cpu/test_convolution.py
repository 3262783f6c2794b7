"""Convolution and the gradients of its operands against torch in float64: every algorithm, one thread and three."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import raxis
from raxis_cpu import threads
from raxis_cpu.library.winograd import Sizes, Weight, convolve, is_worthwhile

EPSILONS = {"float32": 3e-5, "float64": 1e-13, "float16": 2e-3, "bfloat16": 2e-2}
"""Largest difference, as a part of the largest element. Winograd's algorithm costs float32 about five bits."""


class Case(NamedTuple):
    """Sizes [N, C, ...] and [O, C/groups, ...]."""

    image: tuple[int, ...]
    kernel: tuple[int, ...]
    options: dict[str, Any] = {}  # noqa: RUF012

    def __str__(self) -> str:
        return (
            f"{self.image}-{self.kernel}-{'-'.join(f'{name}{value}' for name, value in self.options.items())}"
        )


WINOGRAD = (
    Case((1, 128, 14, 14), (96, 128, 3, 3), {"padding": 1}),
    Case((2, 72, 29, 27), (56, 72, 3, 3)),
    Case((9, 65, 14, 14), (97, 65, 3, 3), {"padding": 1}),
    Case((1, 64, 56, 56), (64, 64, 3, 3), {"padding": 1}),
    Case((5, 128, 20, 15), (128, 64, 3, 3), {"padding": (0, 2), "groups": 2}),
    Case((5, 96, 7, 7), (128, 96, 3, 3), {"padding": 1}),
)
OTHERS = (
    Case((2, 3, 9, 7), (5, 3, 3, 2), {"stride": 2, "padding": (1, 0)}),
    Case(
        (2, 6, 10, 11), (12, 2, 3, 3), {"stride": (2, 3), "padding": (1, 2), "dilation": (2, 1), "groups": 3}
    ),
    Case((1, 3, 32, 32), (40, 3, 7, 7), {"stride": 2, "padding": 3}),
    Case((2, 5, 40, 39), (5, 1, 3, 3), {"stride": 2, "padding": 1, "groups": 5}),
    Case((2, 4, 12, 12), (8, 1, 5, 5), {"padding": 2, "groups": 4}),
    Case((2, 33, 9, 9), (35, 33, 1, 1)),
    Case((2, 3, 9, 9), (5, 3, 1, 1), {"stride": 2, "padding": 1}),
    Case((2, 3, 9, 9), (5, 3, 2, 2), {"stride": 3}),
    Case((2, 4, 3, 3), (6, 4, 3, 3), {"padding": 2}),
    Case((2, 4, 9, 3), (36, 4, 3, 3), {"stride": (4, 1), "padding": (0, 2)}),
    Case((2, 3, 70), (33, 3, 4), {"stride": 3, "padding": 2, "dilation": 2}),
    Case((1, 2, 1200), (3, 2, 5), {"padding": 2}),
    Case(
        (2, 3, 5, 6, 7), (33, 3, 3, 2, 3), {"stride": (1, 2, 1), "padding": (1, 0, 1), "dilation": (1, 1, 2)}
    ),
    Case((2, 6, 5, 6, 7), (6, 3, 2, 2, 3), {"stride": (2, 2, 3), "padding": (1, 1, 0), "groups": 2}),
    # Tiles of one row and of several, with rows left over and without, of one vector of outputs and of two.
    Case((5, 1, 28, 28), (16, 1, 3, 3), {"padding": 1}),
    Case((3, 16, 14, 14), (32, 16, 3, 3), {"padding": 1}),
    Case((2, 32, 7, 7), (64, 32, 3, 3), {"padding": 1}),
    Case((2, 12, 5, 5), (17, 12, 3, 3), {"padding": 1}),
    Case((2, 5, 11, 3), (49, 5, 3, 3), {"padding": 1}),
    Case((1, 4, 1, 1), (33, 4, 3, 3), {"padding": 1}),
    Case((2, 3, 33, 31), (20, 3, 5, 5)),
    Case((2, 7, 12, 29), (8, 7, 3, 3), {"padding": 1}),
    Case((2, 32, 9, 9), (96, 16, 3, 3), {"padding": 1, "groups": 2}),
    # Rows that are longer than a block, and images that are read where they are.
    Case((2, 3, 1500), (40, 3, 3), {"padding": 1}),
    Case((3, 40, 28, 28), (72, 40, 1, 1)),
    Case((2, 16, 9, 9), (16, 16, 9, 9)),
    # So many images that their planes are made in parts.
    Case((160, 16, 14, 14), (24, 16, 3, 3), {"padding": 1}),
    # Products with images: groups, other numbers of dims, more channels than are multiplied at once.
    Case((3, 40, 9, 11), (34, 20, 1, 1), {"groups": 2}),
    Case((2, 600, 5, 5), (20, 600, 1, 1)),
    Case((2, 17, 37), (16, 17, 1)),
    Case((2, 16, 3, 4, 5), (18, 16, 1, 1, 1)),
    # Images smaller than a step, so that some kernel elements meet nothing of them.
    Case((3, 16, 18, 1), (64, 16, 3, 3), {"stride": 3, "padding": 1}),
    Case((2, 64, 1, 16), (520, 16, 3, 3), {"stride": 3, "padding": 2, "groups": 4}),
    Case((2, 64, 2, 4, 8), (16, 64, 3, 3, 3), {"stride": 3, "padding": 2}),
)


@pytest.fixture(params=[1, 3], ids=["one thread", "three threads"])
def thread_count(request: pytest.FixtureRequest) -> Iterator[int]:
    """So many threads during the test."""
    before = threads.get_num_threads()
    threads.set_num_threads(request.param)
    yield request.param
    threads.set_num_threads(before)


def _convolution(library: Any, case: Case, *, transposed: bool = False) -> Any:
    rank = len(case.image) - 2
    return getattr(library.nn.functional, f"conv{'_transpose' if transposed else ''}{rank}d")


def _operands(case: Case, dtype: str, seed: int, *, transposed: bool = False) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    outputs = case.kernel[0]
    if transposed:
        outputs = case.kernel[1] * case.options.get("groups", 1)
    shapes = (case.image, case.kernel, (outputs,))
    dtype = dtype if dtype.startswith("float") and dtype != "float16" else "float32"
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def _gradients(
    library: Any, case: Case, operands: list[Any], seed: int, *, transposed: bool = False
) -> list[np.ndarray]:
    """The result and the gradients of image, weight and bias, for a repeatable gradient of the result."""
    tensors = [operand.detach().requires_grad_() for operand in operands]
    result = _convolution(library, case, transposed=transposed)(*tensors, **case.options)
    given = np.random.default_rng(seed + 1).standard_normal(tuple(result.shape)).astype(np.float32)
    result.backward(library.from_numpy(given).to(result.dtype))
    return [_array(item) for item in (result.detach(), *(tensor.grad for tensor in tensors))]


def _array(tensor: Any) -> np.ndarray:
    library = raxis if isinstance(tensor, raxis.Tensor) else torch
    return np.asarray(tensor.to(library.float64).numpy())


def _check(case: Case, dtype: str, seed: int, *, transposed: bool = False) -> None:
    arrays = _operands(case, dtype, seed, transposed=transposed)
    own = [raxis.from_numpy(array).to(getattr(raxis, dtype)) for array in arrays]
    exact = [torch.from_numpy(_array(tensor).copy()) for tensor in own]
    found = _gradients(raxis, case, own, seed, transposed=transposed)
    expected = _gradients(torch, case, exact, seed, transposed=transposed)
    for name, one, other in zip(("result", "image", "weight", "bias"), found, expected, strict=True):
        scale = np.abs(other).max(initial=1)
        np.testing.assert_allclose(
            one, other, rtol=0, atol=EPSILONS[dtype] * scale, err_msg=f"{name}, seed {seed}"
        )


@pytest.mark.parametrize("case", [*WINOGRAD, *OTHERS], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_correlations_and_their_gradients(case: Case, dtype: str, thread_count: int) -> None:
    _check(case, dtype, seed=thread_count)


@pytest.mark.parametrize("case", [WINOGRAD[0], WINOGRAD[4], OTHERS[1], OTHERS[10]], ids=str)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves(case: Case, dtype: str) -> None:
    _check(case, dtype, seed=5)


def _any_case(rng: np.random.Generator, *, transposed: bool) -> Case | None:
    """Sizes of all kinds; None if they do not fit each other."""
    dims, groups = rng.choice([1, 2, 2, 3]), int(rng.choice([1, 1, 2, 4]))
    stride, padding, dilation = (
        int(rng.choice([1, 1, 2, 3])),
        int(rng.integers(3)),
        int(rng.choice([1, 1, 2])),
    )
    kernel = [3] * dims if rng.random() < 0.6 else rng.integers(1, 6, dims).tolist()
    image = rng.integers(1, 20 if dims < 3 else 8, dims).tolist()
    reach = [dilation * (size - 1) + 1 for size in kernel]
    if transposed:
        room = [(size - 1) * stride - 2 * padding + far for size, far in zip(image, reach, strict=True)]
    else:
        room = [size + 2 * padding - far + 1 for size, far in zip(image, reach, strict=True)]
    if min(room) < 1:
        return None
    channels, outputs = (int(rng.choice([1, 2, 8, 16, 33, 64, 130])) for _ in range(2))
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    first = (channels * groups, outputs) if transposed else (outputs * groups, channels)
    return Case((int(rng.choice([1, 2, 9])), channels * groups, *image), (*first, *kernel), options)


@pytest.mark.parametrize("transposed", [False, True])
def test_sizes_of_all_kinds(transposed: bool, seed: int, thread_count: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = (_any_case(rng, transposed=transposed) for _ in range(60))
    for case in filter(None, drawn):
        print(case)
        _check(case, "float32", seed, transposed=transposed)


TRANSPOSED = (
    Case((2, 33, 7, 9), (33, 40, 3, 3), {"padding": 1}),
    Case((2, 4, 7, 5), (4, 3, 2, 2), {"stride": 2}),
    Case((2, 16, 9, 15), (16, 20, 3, 3), {"stride": 2, "padding": 1}),
    Case((3, 32, 14, 14), (32, 16, 2, 2), {"stride": (2, 1)}),
    Case((2, 4, 7, 5), (4, 3, 4, 4), {"stride": 2, "padding": 1}),
    Case((2, 4, 7, 5), (4, 2, 3, 3), {"stride": 3, "output_padding": 2, "groups": 2, "dilation": 2}),
    Case((1, 3, 4, 4), (3, 35, 1, 1), {"stride": 2}),
    Case((2, 40, 9, 9), (40, 18, 1, 1), {"groups": 2}),
    Case((2, 6, 20), (6, 3, 4), {"stride": 2, "padding": 1}),
    Case((1, 2, 3, 4, 5), (2, 3, 2, 3, 2), {"stride": (2, 1, 2), "padding": (1, 0, 1)}),
)


@pytest.mark.parametrize("case", TRANSPOSED, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_transposes_and_their_gradients(case: Case, dtype: str, thread_count: int) -> None:
    _check(case, dtype, seed=thread_count, transposed=True)


@pytest.mark.parametrize("case", [WINOGRAD[1], OTHERS[0]], ids=str)
def test_operands_that_are_not_contiguous(case: Case) -> None:
    image, weight, bias = (torch.from_numpy(array) for array in _operands(case, "float32", seed=2))
    expected = torch.conv2d(image.double(), weight.double(), bias.double(), **case.options).numpy()
    spread = np.zeros((*case.image[:-1], 2 * case.image[-1]), np.float32)
    spread[..., ::2] = image
    own = raxis.from_numpy(spread)[..., ::2]
    turned = raxis.from_numpy(np.ascontiguousarray(weight.numpy().T)).permute(3, 2, 1, 0)
    for seen in (own, own.contiguous(memory_format=raxis.channels_last)):
        found = raxis.conv2d(seen, turned, raxis.from_numpy(bias.numpy()), **case.options)
        np.testing.assert_allclose(found.numpy(), expected, rtol=0, atol=3e-5 * np.abs(expected).max())


def test_gradients_that_are_not_contiguous() -> None:
    case = WINOGRAD[1]
    image, weight, _ = _operands(case, "float32", seed=3)
    results = []
    for library in (raxis, torch):
        leaves = [library.from_numpy(array.copy()).requires_grad_() for array in (image, weight)]
        # The gradient of a sum is one element that is everywhere.
        library.conv2d(*leaves).sum().backward()
        results.append([leaf.grad.numpy() for leaf in leaves])
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("case", [Case((0, 32, 8, 8), (32, 32, 3, 3)), Case((0, 3, 9), (2, 3, 3))], ids=str)
def test_no_images(case: Case) -> None:
    _check(case, "float32", seed=0)


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("case", [WINOGRAD[0], WINOGRAD[2], OTHERS[0], OTHERS[4], OTHERS[5]], ids=str)
def test_what_is_not_finite_stays_where_it_belongs(case: Case, strange: float) -> None:
    arrays = _operands(case, "float32", seed=4)
    arrays[0][0, 0, 4, 4] = strange
    found = raxis.conv2d(*map(raxis.from_numpy, arrays), **case.options).numpy()
    expected = torch.conv2d(*(torch.from_numpy(array).double() for array in arrays), **case.options).numpy()
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
    ordinary = np.isfinite(expected)
    np.testing.assert_allclose(found[ordinary], expected[ordinary], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("case", [WINOGRAD[0], WINOGRAD[2], OTHERS[0], OTHERS[4]], ids=str)
def test_gradients_of_kernels_with_an_infinite_image(case: Case) -> None:
    arrays = _operands(case, "float32", seed=6)
    arrays[0][0, 0, 0, 0] = np.inf
    results = []
    for library in (raxis, torch):
        dtype = library.float32 if library is raxis else library.float64
        image, weight = (library.from_numpy(array).to(dtype) for array in arrays[:2])
        weight.requires_grad_()
        # A gradient of ones meets an infinity without becoming NaN.
        library.conv2d(image, weight, **case.options).sum().backward()
        results.append(weight.grad.numpy())
    found, expected = results
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_huge_numbers_that_overflow_in_between() -> None:
    image = np.full((1, 128, 16, 16), 1e37, np.float32)
    weight = np.full((128, 128, 3, 3), 1e-3, np.float32)
    found = raxis.conv2d(raxis.from_numpy(image), raxis.from_numpy(weight)).numpy()
    np.testing.assert_allclose(found, np.full((1, 128, 14, 14), 128 * 9 * 1e34, np.float32), rtol=1e-4)


def test_small_work_on_memory_that_begins_in_between() -> None:
    source = np.random.default_rng(8).standard_normal(2 * 3 * 6 * 6 + 5).astype(np.float32)
    image = source[5:].reshape(2, 3, 6, 6)
    weight = np.random.default_rng(9).standard_normal((4, 3, 3, 3)).astype(np.float32)
    own = raxis.from_numpy(source)[5:].reshape(2, 3, 6, 6)
    expected = torch.conv2d(torch.from_numpy(image).double(), torch.from_numpy(weight).double())
    for _ in range(3):
        found = raxis.conv2d(own, raxis.from_numpy(weight)).numpy()
        np.testing.assert_allclose(found, expected.numpy(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("case", WINOGRAD, ids=str)
def test_cases_for_winograd(case: Case) -> None:
    groups, padding = case.options.get("groups", 1), case.options.get("padding", 0)
    before = padding if isinstance(padding, tuple) else (padding, padding)
    image = case.image[2:]
    result = tuple(size + 2 * pad - 2 for size, pad in zip(image, before, strict=True))
    sizes = Sizes(case.image[0], groups, case.kernel[1], case.kernel[0] // groups, image, result, before)
    assert is_worthwhile(sizes)


def test_which_sizes_are_for_winograd() -> None:
    def sizes(channels: int, outputs: int, side: int) -> Sizes:
        return Sizes(1, 1, channels, outputs, (side, side), (side, side), (1, 1))

    assert is_worthwhile(sizes(64, 64, 56))
    assert not is_worthwhile(sizes(3, 64, 56))
    assert not is_worthwhile(sizes(16, 32, 14))
    assert not is_worthwhile(sizes(64, 64, 2))


@pytest.mark.parametrize("images", [1, 5, 40])
@pytest.mark.parametrize("channels", [1, 16, 17, 49, 70])
@pytest.mark.parametrize("outputs", [1, 33])
def test_winograd_with_any_number_of_channels(images: int, channels: int, outputs: int) -> None:
    generator = np.random.default_rng(channels)
    groups, side = 2, 7
    image = generator.standard_normal((images, groups * channels, side, side)).astype(np.float32)
    weight = generator.standard_normal((groups * outputs, channels, 3, 3)).astype(np.float32)
    bias = generator.standard_normal(groups * outputs).astype(np.float32)
    found = np.empty((images, groups * outputs, side, side), np.float32)
    sizes = Sizes(images, groups, channels, outputs, (side, side), (side, side), (1, 1))
    strides = Weight(outputs * channels * 9, channels * 9, 9)
    assert convolve(sizes, strides, image, weight, bias, found)
    seen, kernels, added = (torch.from_numpy(array).double() for array in (image, weight, bias))
    expected = torch.conv2d(seen, kernels, added, padding=1, groups=groups).numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=5e-5 * np.sqrt(9 * channels))


@pytest.mark.parametrize("images", [1, 40])
@pytest.mark.parametrize("channels", [1, 17, 49])
def test_winograd_with_turned_kernels(images: int, channels: int) -> None:
    generator = np.random.default_rng(channels)
    outputs, rows, places = 35, 9, 5
    image = generator.standard_normal((images, channels, rows, places)).astype(np.float32)
    weight = generator.standard_normal((channels, outputs, 3, 3)).astype(np.float32)
    found = np.empty((images, outputs, rows, places), np.float32)
    sizes = Sizes(images, 1, channels, outputs, (rows, places), (rows, places), (1, 1))
    strides = Weight(channels * outputs * 9, 9, outputs * 9, turned=True)
    assert convolve(sizes, strides, image, weight, None, found)
    seen, kernels = (torch.from_numpy(array).double() for array in (image, weight))
    expected = torch.conv_transpose2d(seen, kernels, padding=1).numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=5e-5 * np.sqrt(9 * channels))


@pytest.mark.parametrize("images", [18, 19])
def test_winograd_with_more_outputs_than_tiles(images: int) -> None:
    generator = np.random.default_rng(images)
    planes = generator.standard_normal((images + 1, 40, 7, 7)).astype(np.float32)
    weight = generator.standard_normal((301, 20, 3, 3)).astype(np.float32)
    # Every second channel of the last images: planes are dense, but do not lie one after another.
    image = planes[1:, ::2]
    found = np.empty((images, 301, 7, 7), np.float32)
    sizes = Sizes(images, 1, 20, 301, (7, 7), (7, 7), (1, 1))
    assert convolve(sizes, Weight(301 * 20 * 9, 20 * 9, 9), image, weight, None, found)
    seen, kernels = (torch.from_numpy(array).double() for array in (image.copy(), weight))
    expected = torch.conv2d(seen, kernels, padding=1).numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=5e-5 * np.sqrt(9 * 20))
