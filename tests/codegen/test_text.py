"""What kernels look like in each dialect; ``RAXIS_UPDATE=1 pytest tests/codegen/test_text.py`` writes the texts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from raxis import dtypes
from raxis.codegen import C, Cuda, Dialect, OpenCL, render, render_check
from raxis.ptir import Builder, Program, TensorType
from raxis.schedule import Access, Axis, LoopKernel, LoopStep, Node, Position, Store, schedule
from tests.codegen.recorder import Recorder, dense

TEXTS = Path(__file__).parent / "texts"
DIALECTS: dict[str, Dialect] = {"cl": OpenCL(), "cu": Cuda(), "c": C()}


def loop(program: Program) -> LoopKernel:
    (step,) = schedule(program, *dense(program)).steps
    assert isinstance(step, LoopStep)
    return step.kernel


def softmax(size: int) -> LoopKernel:
    builder, shape = Builder("softmax"), (8, size)
    x = builder.parameter(TensorType(dtypes.bfloat16, shape))

    def spread(value):
        return builder.emit("broadcast", value, shape=shape, dims=(0,))

    shifted = builder.emit("sub", x, spread(builder.emit("reduce_max", x, dims=(1,))))
    powers = builder.emit("exp", shifted)
    return loop(
        builder.build([builder.emit("div", powers, spread(builder.emit("reduce_sum", powers, dims=(1,))))])
    )


def lookup() -> LoopKernel:
    builder = Builder("lookup")
    x = builder.parameter(TensorType(dtypes.complex64, (4, 3)))
    index = builder.parameter(TensorType(dtypes.int64, (5,)))
    return loop(builder.build([builder.emit("take", x, index, dim=0)]))


def noise() -> LoopKernel:
    nodes = (
        Node("scalar", (), dtypes.int64, 0),
        Node("scalar", (), dtypes.int64, 1),
        Node("random", (0, 1), dtypes.int32, Position((1,))),
    )
    stores = (Store(2, Access(0, (1,))),)
    return LoopKernel("noise", (dtypes.int32,), (Axis(100),), nodes, stores, (dtypes.int64, dtypes.int64))


KERNELS: dict[str, Callable[[Dialect], str]] = {
    "softmax": lambda dialect: render(softmax(100), dialect).source,
    "short_rows": lambda dialect: render(softmax(5), dialect).source,
    "lookup": lambda dialect: render(lookup(), dialect).source,
    "lookup_check": lambda dialect: render_check(lookup(), dialect).source,  # type: ignore[union-attr]
    "noise": lambda dialect: render(noise(), dialect).source,
}


@pytest.mark.parametrize("suffix", list(DIALECTS))
@pytest.mark.parametrize("name", list(KERNELS))
def test_text(name: str, suffix: str) -> None:
    compare(f"{name}.{suffix}", KERNELS[name](DIALECTS[suffix]))


def compare(name: str, text: str) -> None:
    place = TEXTS / name
    if os.environ.get("RAXIS_UPDATE") == "1":
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    assert text == place.read_text()


def sources(dialect: Dialect, primitive: str, *types: TensorType, **attributes: object) -> list[str]:
    builder = Builder(primitive)
    program = builder.build(
        builder.emit_all(primitive, [builder.parameter(type) for type in types], attributes)
    )
    recorder = Recorder(dialect)
    recorder.compile(program, *dense(program))
    return recorder.sources


@pytest.mark.parametrize("suffix", ["cl", "cu"])
def test_tiled_product(suffix: str) -> None:
    dims = {"lhs_batch": (0,), "rhs_batch": (0,), "lhs_contract": (2,), "rhs_contract": (1,)}
    left, right = TensorType(dtypes.float16, (3, 40, 20)), TensorType(dtypes.float16, (3, 20, 50))
    (text,) = sources(DIALECTS[suffix], "dot_general", left, right, **dims)
    compare(f"product.{suffix}", text)


@pytest.mark.parametrize("suffix", list(DIALECTS))
def test_atomic_updates(suffix: str) -> None:
    x, index = TensorType(dtypes.float32, (9,)), TensorType(dtypes.int64, (100,))
    updates = TensorType(dtypes.float32, (100,))
    made = sources(DIALECTS[suffix], "scatter", x, index, updates, dim=0, reduce="max")
    (text,) = [text for text in made if "raxis_scatter_max(" in text]
    compare(f"scatter_max.{suffix}", text)


def test_sizes_are_no_part_of_the_text() -> None:
    one, other = (render(softmax(size), OpenCL()) for size in (100, 2000))
    assert one.source == other.source
    assert one.entries != other.entries
    assert render(softmax(5), OpenCL()).source != one.source  # a work-item for each row


def test_convolution_is_a_product_of_matrices() -> None:
    attributes = {"stride": (1, 1), "padding": ((1, 1), (1, 1)), "dilation": (1, 1), "groups": 1}
    image, weight = (TensorType(dtypes.float32, shape) for shape in ((4, 8, 6, 6), (16, 8, 3, 3)))
    made = sources(OpenCL(), "convolution", image, weight, **attributes)
    assert sum("__kernel void raxis_product(" in text for text in made) == 1
    assert not any(
        "raxis_product(" in text for text in sources(C(), "convolution", image, weight, **attributes)
    )
