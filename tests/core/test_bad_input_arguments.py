"""Arguments of wrong types, sizes and values: PyTorch's exception classes, in sentences."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import torch
from ml_dtypes import bfloat16

import raxis
from raxis.backends.reference.backend import ReferenceBackend
from raxis.ptir.builder import Builder
from raxis.ptir.types import TensorType

LIBRARIES = (torch, raxis)

SAME_ERRORS = [
    "T.zeros(-1)",
    "T.zeros(10**15)",
    "T.zeros(10**19)",
    "T.zeros(2**62, 4)",
    "T.zeros(2**62)",
    "T.empty(10**13, dtype=T.float64)",
    "T.arange(10**15)",
    "T.rand(10**15)",
    "T.empty_strided((2, 3), (10**18, 1))",
    "T.ones(2, 3).sum(2**63)",
    "T.ones(2, 3).reshape(2**63)",
    "T.zeros('2')",
    "T.zeros(None)",
    "T.zeros((2, 'a'))",
    "T.zeros(2.0)",
    "T.zeros(2, out=3)",
    "T.zeros(2, requires_grad='yes')",
    "T.zeros_like(3)",
    "T.ones_like(None)",
    "T.meshgrid(T.ones(2), 3)",
    "T.kron(T.ones(2), 3)",
    "T.equal(T.ones(2), 3)",
    "T.numel(3)",
    "T.clone(-1)",
    "T.outer(T.ones(3), ())",
    "T.nn.functional.relu(True, inplace=True)",
    "T.nn.functional.one_hot(['a'])",
    "T.histc(1j)",
    "T.is_floating_point('a')",
    "T.rand(2, generator=3)",
    "T.rand(2, generator='a')",
    "T.Generator().manual_seed('a')",
    "T.Generator(device='nope')",
    "T.manual_seed(2**64)",
    "T.manual_seed(-(2**63) - 1)",
    "T.set_rng_state(T.zeros(2))",
    "T.set_rng_state(T.zeros(2, dtype=T.uint8))",
    "T.ones(2, dtype=T.int64) + 2**70",
    "T.ones(2, dtype=T.int64) < 2**70",
    "T.finfo('a')",
    "T.finfo(T.int64)",
    "T.iinfo(T.float32)",
    "T.can_cast(T.float32, 'a')",
    "T.promote_types(T.float32, 3)",
    "T.device('cpu', 3.5)",
    "T.device('cpu', -1)",
    "T.Size([1.5])",
    "T.Size(['a'])",
    "T.Tensor('a')",
    "T.Tensor(2, 'a')",
    "T.Tensor(-3)",
    "T.tensor(b'ab')",
    "T.tensor(np.array([1, 2], dtype='>i4'))",
    "T.frombuffer(bytearray(8), dtype=None)",
    "T.frombuffer('abc', dtype=T.uint8)",
    "T.from_dlpack(3)",
    "T.clamp(T.ones(2))",
    "T.clamp(T.ones(2, dtype=T.complex64), 0)",
    "T.softmax(T.ones(2, dtype=T.int64), 0)",
    "T.ones(2, dtype=T.int64).normal_()",
    "T.ones(2, dtype=T.complex64).bernoulli()",
    "T.ones(2) & T.ones(2)",
    "~T.ones(2)",
    "T.nn.functional.hardtanh_(T.arange(4), 1, float('inf'))",
    "T.tensordot(T.ones(2), T.ones(2), 1.5)",
    "T.matrix_power(T.ones(4), 2)",
    "int(T.tensor(1j))",
    "float(T.tensor(1j))",
    "T.ones(3).__delitem__(0)",
    "T.gather(T.ones(2, 3), 0, T.tensor([[2, 0, 0]]))",
    "T.zeros(2, 3).scatter_add(0, T.tensor([[-1, 0, 0]]), T.ones(1, 3))",
    "T.index_select(T.ones(2, 3), 0, T.tensor([2]))",
    "T.ones(2, 3).index_add(0, T.tensor([0, 5]), T.ones(2, 3))",
    "T.exp(T.ones(2), out=(T.ones(2),))",
    "T.max(T.ones(2, 3), 1, out=(T.ones(2), T.ones(2)))",
    "T.sort(T.ones(3), out=(T.ones(3), T.ones(3, dtype=T.int32)))",
    "T.set_grad_enabled(None)",
    "T.set_grad_enabled('a')",
    "T.exp(T.ones(2), foo=1)",
]


def outcome(library: Any, code: str) -> BaseException:
    with pytest.raises(Exception) as caught:
        eval(code, {"T": library, "np": np})
    return caught.value


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("code", SAME_ERRORS)
def test_error_class(code: str) -> None:
    expected, found = (outcome(library, code) for library in LIBRARIES)
    wanted = next(kind for kind in type(expected).__mro__ if kind.__module__ == "builtins")
    assert isinstance(found, wanted)
    assert " " in str(found)
    assert len(str(found)) >= 15


@pytest.mark.parametrize("code", ["T.zeros(10**15)", "T.empty(10**15)", "T.rand(10**15)", "T.arange(10**15)"])
def test_out_of_memory(code: str) -> None:
    assert isinstance(outcome(raxis, code), raxis.OutOfMemoryError)


def test_out_of_memory_for_intermediate_values() -> None:
    builder = Builder("large")
    x = builder.parameter(TensorType(raxis.float32, (1,)))
    wide = builder.emit("broadcast", x, shape=(1 << 46,), dims=(0,))
    program = builder.build([builder.emit("reduce_sum", builder.emit("neg", wide), dims=(0,))])
    backend = ReferenceBackend()
    run = backend.compile(program, [(1,)], [()])
    with pytest.raises(raxis.OutOfMemoryError, match="intermediate"):
        run(backend.allocate(4, 0), 0, backend.allocate(4, 0), 0)


@pytest.mark.parametrize(
    ("kind", "name"), [(float, "float64"), (int, "int64"), (bool, "bool"), (complex, "complex128")]
)
def test_python_types_as_dtypes(kind: type, name: str) -> None:
    for library in LIBRARIES:
        wanted = getattr(library, name)
        assert library.zeros(2, dtype=kind).dtype is wanted
        assert library.empty(2, dtype=kind).dtype is wanted
        assert library.ones(2).sum(dtype=kind).dtype is wanted


def test_numpy_integers_are_integers() -> None:
    two = np.int64(2)
    for library in LIBRARIES:
        functional = library.nn.functional
        assert tuple(library.zeros(two).shape) == (2,)
        assert tuple(library.zeros(np.array(2)).shape) == (2,)
        assert tuple(library.zeros(library.tensor(2)).shape) == (2,)
        assert library.arange(3).tile(two).tolist() == [0, 1, 2, 0, 1, 2]
        assert library.ones(2, 3).sum_to_size(np.int64(1)).tolist() == [6.0]
        assert tuple(functional.max_pool2d(library.ones(1, 1, 4, 4), two).shape) == (1, 1, 2, 2)
        assert functional.adaptive_avg_pool1d(library.ones(1, 4), two).tolist() == [[1.0, 1.0]]
        assert [part.tolist() for part in library.tensor_split(library.arange(4), two)] == [[0, 1], [2, 3]]


def test_old_constructor() -> None:
    for library in LIBRARIES:
        assert tuple(library.Tensor(2, 3).shape) == (2, 3)
        assert tuple(library.Tensor(library.Size([2, 1])).shape) == (2, 1)
        assert library.Tensor([1, 2]).tolist() == [1.0, 2.0]
        assert library.Tensor(np.array([1, 2])).dtype is library.float32
        assert library.Tensor(library.tensor([1, 2])).dtype is library.int64
        assert library.Tensor().shape.numel() == 0


def test_numbers_on_the_host_join_other_devices() -> None:
    for library in LIBRARIES:
        there = library.ones(2, device="meta")
        assert (there * library.tensor(2.0)).device.type == "meta"
        assert (library.tensor(2.0) - there).device.type == "meta"
        assert there.mul_(library.tensor(2.0)) is there
    with pytest.raises(RuntimeError, match="same device"):
        raxis.tensor(1.0).add_(raxis.ones((), device="meta"))
    with pytest.raises(RuntimeError, match="same device"):
        raxis.ones(2, device="meta") + raxis.ones(2)


def test_sign_of_zero_is_kept_by_cached_plans() -> None:
    for value in (0.0, -0.0, 0, -0.0):
        for library in LIBRARIES:
            functional = library.nn.functional
            results = [
                library.nan_to_num(library.tensor([float("nan")]), value),
                functional.hardtanh(library.tensor([-3.0]), value, 1.0),
                functional.threshold(library.tensor([-3.0]), 0.0, value),
                functional.leaky_relu(library.tensor([-1.0]), value),
                functional.pad(library.ones(1), (1, 0), value=value)[:1],
            ]
            signs = [str(result.item()) for result in results]
            if library is torch:
                expected = signs
        assert signs == expected, value


def test_nan_as_static_argument_finds_its_plan() -> None:
    from raxis.ops.table import OPS

    x = raxis.ones(2)
    raxis.nn.functional.leaky_relu(x, float("nan"))
    plans = len(OPS["_leaky_relu"].plans)
    for _ in range(5):
        raxis.nn.functional.leaky_relu(x, float("nan"))
    assert len(OPS["_leaky_relu"].plans) == plans


def test_long_ranges_are_not_kept_by_executables() -> None:
    builder = Builder("range")
    program = builder.build([builder.emit("iota", shape=(1_000_003,), dtype=raxis.int64, dim=0)])
    tracemalloc.start()
    run = ReferenceBackend().compile(program, [], [(1,)])
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert run is not None
    assert kept < 1_000_000


def test_bfloat16_scalar_is_a_number() -> None:
    assert (raxis.ones(1) * bfloat16(2)).item() == 2.0
