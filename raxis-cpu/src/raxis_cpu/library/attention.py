"""Kernels of scaled dot-product attention and its gradients: the scores of all heads never exist together."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from raxis import dtypes
from raxis.backends.api import Executable, KernelFactory, Strides
from raxis.dtypes import HALF, DType
from raxis.layout import broadcast_shapes, contiguous_strides
from raxis.ops.definitions.random import kept_scale
from raxis.ptir.program import Program
from raxis.ptir.types import TensorType
from raxis_cpu.library.attention_ir import NUMBERS, Kind, attention_ir
from raxis_cpu.library.routine import Array, is_dense
from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.ir import Type
from raxis_cpu.llvm.native import built_in, method_definition

_ELEMENTS = {dtypes.float32: "float", dtypes.float64: "double"}
_SCORE_BYTES = 1 << 17
"""Scores of one block of queries: with the keys and values of a head they fit into a core's own cache."""
_ROWS = 8
"""A block has a multiple of so many queries, what a product computes at once."""
_CAUSAL_BLOCK = 32
"""Queries of a block that see different numbers of keys: what the last one sees is computed for all."""
_TASKS = 16
"""So many tasks keep all threads busy."""
_LARGE = 1 << 18
"""Multiplications from which the GIL is released and threads take part."""


def attention_kernels(host_view: Callable[[Any], Array]) -> Mapping[str, KernelFactory]:
    """The kernels by op name."""
    return {
        "_attention": partial(_kernel, host_view, gradients=False),
        "_attention_gradient": partial(_kernel, host_view, gradients=True),
    }


class _Operand(NamedTuple):
    """An array as the kernel sees it; `copy` makes it where the tensor's own memory does not do."""

    shape: tuple[int, ...]
    strides: Strides
    copy: Callable[[Any, int], Array] | None = None


def _kernel(
    host_view: Callable[[Any], Array], program: Program, inputs: Sequence[Strides | None],
    outputs: Sequence[Strides], *, gradients: bool,
) -> Executable | None:  # fmt: skip
    """The executable; None for empty operands."""
    types = [parameter.type for parameter in program.parameters if not parameter.by_value]
    results = [result.type for result in program.results]
    if any(0 in type.shape for type in (*types, *results)):
        return None
    compute = dtypes.float32 if types[0].dtype in HALF else types[0].dtype
    drops = len(types) < len(program.parameters)
    kind = _kind_of(types, compute, gradients=gradients, drops=drops)
    keys = types[kind.operands.index("key")].shape[-2]
    operands = [
        _mask(_Memory(type, strides or (), host_view), compute, keys) if name == "mask"
        else _matrices(_Memory(type, strides or (), host_view), compute)
        for name, type, strides in zip(kind.operands, types, inputs, strict=False)
    ]  # fmt: skip
    targets = [_Operand(type.shape, contiguous_strides(type.shape)) for type in results]
    native = _code(kind).bind(_numbers(kind, [*operands, *targets], program.attributes))
    copies = [operand.copy for operand in operands]
    stores = [
        None if type.dtype is compute and is_dense(type.shape, strides) else _Memory(type, strides, host_view)
        for type, strides in zip(results, outputs, strict=True)
    ]
    if not any(copies) and not any(stores):
        return native
    return _through_copies(native, copies, stores, compute, kind.results_at)


def _kind_of(types: Sequence[TensorType], compute: DType, *, gradients: bool, drops: bool) -> Kind:
    mask = types[-1].dtype if len(types) > 3 + gradients else None
    vector = Type(_ELEMENTS[compute], host().vector_bytes // compute.itemsize)
    return Kind(vector, "" if mask is None else "bool" if mask is dtypes.bool_ else "float", gradients, drops)


# ---- arrays ----------------------------------------------------------------------------------------


class _Memory(NamedTuple):
    """A tensor in memory; it is called with a buffer and an offset, and returns the array."""

    type: TensorType
    strides: Strides
    host_view: Callable[[Any], Array]

    def __call__(self, buffer: Any, offset: int) -> Array:
        dtype = self.type.dtype.numpy
        strides = tuple(stride * dtype.itemsize for stride in self.strides)
        return np.ndarray(self.type.shape, dtype, self.host_view(buffer), offset * dtype.itemsize, strides)


def _matrices(memory: _Memory, compute: DType) -> _Operand:
    """Operands whose columns are contiguous are read where they are."""
    shape, strides = memory.type.shape, memory.strides
    if memory.type.dtype is compute and (strides[-1] == 1 or shape[-1] == 1):
        return _Operand(shape, strides)
    return _copied(memory, compute, shape)


def _mask(memory: _Memory, compute: DType, keys: int) -> _Operand:
    """Like other operands; a column for all keys is repeated, rows for all queries are not."""
    shape, strides = memory.type.shape, memory.strides
    dtype = dtypes.bool_ if memory.type.dtype is dtypes.bool_ else compute
    whole = (1,) * (2 - len(shape)) + ((*shape[:-1], keys) if shape else (keys,))
    if memory.type.dtype is dtype and whole[-len(shape) :] == shape and strides[-1] == 1:
        return _Operand(whole, (0,) * (len(whole) - len(shape)) + strides)
    return _copied(memory, dtype, whole)


def _copied(memory: _Memory, dtype: DType, shape: tuple[int, ...]) -> _Operand:
    """A dense copy, broadcast to `shape`, that has one element for all that lie in the same place."""
    missing = len(shape) - len(memory.strides)
    strides = (0,) * missing + memory.strides
    repeated = [not stride and axis < len(shape) - 2 for axis, stride in enumerate(strides)]
    first = tuple(slice(1) if once else slice(None) for once in repeated)
    kept = tuple(1 if once else size for size, once in zip(shape, repeated, strict=True))
    dense = contiguous_strides(kept)

    def copy(buffer: Any, offset: int) -> Array:
        return np.ascontiguousarray(np.broadcast_to(memory(buffer, offset), shape)[first], dtype.numpy)

    return _Operand(
        shape, tuple(0 if once else stride for stride, once in zip(dense, repeated, strict=True)), copy
    )


def _through_copies(
    native: Executable, copies: Sequence[Callable[[Any, int], Array] | None], stores: Sequence[_Memory | None],
    compute: DType, results_at: int,
) -> Executable:  # fmt: skip
    """The kernel on copies of some operands, its results, from an argument on, written to where they belong."""

    def execute(*arguments: Any) -> None:
        passed = list(arguments)
        for place, copy in enumerate(copies):
            if copy is not None:
                passed[2 * place : 2 * place + 2] = copy(*arguments[2 * place : 2 * place + 2]), 0
        targets = []
        for place, store in zip(range(results_at, len(passed), 2), stores, strict=True):
            if store is not None:
                made = np.empty(store.type.shape, compute.numpy)
                targets.append((store(*arguments[place : place + 2]), made))
                passed[place : place + 2] = made, 0
        native(*passed)
        for target, made in targets:
            target[...] = made

    return execute


# ---- the machine code and its numbers --------------------------------------------------------------


class _Compiled:
    """The code of one kind."""

    def __init__(self, kind: Kind) -> None:
        text = f'target triple = "{host().triple}"\n{attention_ir(kind)}'
        self._code = Code(compile(text, host()))
        self._definition = method_definition("attention", self._code.address("entry"))

    def bind(self, numbers: Sequence[int]) -> Executable:
        """The built-in for some sizes."""
        return built_in(self._definition, numbers, self)


_code = cache(_Compiled)


def _numbers(kind: Kind, items: Sequence[_Operand], attributes: Mapping[str, Any]) -> list[int]:
    """What the code finds as `attention_ir.NUMBERS`, then distances of rows, then where matrices begin."""
    by_name = dict(zip(kind.arrays, items, strict=True))
    query, key, value = (by_name[name].shape for name in ("query", "key", "value"))
    batch = broadcast_shapes(query[:-2], key[:-2], value[:-2])
    queries, width, keys, value_width = query[-2], query[-1], key[-2], value[-1]
    size = kind.vector.bits // 8
    padded = -(-keys // kind.vector.lanes) * kind.vector.lanes
    block = max(_ROWS, _SCORE_BYTES // (padded * size) // _ROWS * _ROWS)
    block = min(block, _CAUSAL_BLOCK if attributes["is_causal"] else block, -(-queries // _ROWS) * _ROWS)
    stack = prod(batch)
    # Queries of one head share gradients, so they are one task.
    parts = 1 if kind.gradients else min(-(-_TASKS // stack), -(-queries // block))
    part = -(-queries // (parts * block)) * block
    scores = (width + block + (value_width + block if kind.gradients else 0)) * padded
    others = block * (1 if kind.gradients else width + 1)
    values = {
        "table": runtime.ADDRESS, "stack": stack, "queries": queries, "keys": keys, "width": width,
        "value_width": value_width, "scale": _bits(attributes["scale"]), "causal": int(attributes["is_causal"]),
        "dropout": _bits(attributes["dropout"]), "kept": _bits(kept_scale(attributes["dropout"])),
        "block": block, "padded": padded, "part": part, "parts": -(-queries // part),
        "nbytes": (scores + others) * size,
        "large": int(stack * queries * keys * (width + value_width) >= _LARGE),
    }  # fmt: skip
    distances = [0 if item.shape[-2] == 1 else item.strides[-2] for item in items]
    starts = np.stack([_starts(item, batch) for item in items], -1)
    return [*(values[name] for name in NUMBERS), *distances, *starts.ravel().tolist()]


def _bits(number: float) -> int:
    (bits,) = struct.unpack("<q", struct.pack("<d", number))
    return int(bits)


def _starts(item: _Operand, batch: tuple[int, ...]) -> Array:
    """Where every matrix of the stack begins in an array, in elements."""
    shape, strides = item.shape[:-2], item.strides[:-2]
    total = np.zeros(batch, np.int64)
    for axis, (size, stride) in enumerate(zip(shape, strides, strict=True), len(batch) - len(shape)):
        if size > 1:
            total += (np.arange(size) * stride).reshape(-1, *(1,) * (len(batch) - 1 - axis))
    return total.ravel()
