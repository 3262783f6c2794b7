"""Reads at positions that several index arrays give together, in LLVM IR: what ``x[i, j]`` comes to."""

from __future__ import annotations

from functools import cache

from raxis_cpu.library.call_ir import Status
from raxis_cpu.library.nest_ir import Nest, nest_numbers
from raxis_cpu.library.phases import Module
from raxis_cpu.llvm.ir import I64, Type, Value


def numbers_of(rank: int, indices: int) -> tuple[str, ...]:
    """The names of what `reading` reads: the loops over the indices, the slices, the indexed dimensions."""
    dims = (f"{part}_{index}" for index in range(indices) for part in ("dim", "length", "step"))
    return (*nest_numbers(rank, indices), "inner", "inner_stride", *dims)


@cache
def reading(itemsize: int, index_sizes: tuple[int, ...], rank: int) -> Module:
    """Phases ``check`` and ``read``; a unit is one slice of the first dimension of the indices.

    Arrays are the operand, the indices (of so many bytes an element), and the dense result.
    """
    text = "\n".join([_check(index_sizes, rank), _read(itemsize, index_sizes, rank)])
    return Module("read_indexed", text, numbers_of(rank, len(index_sizes)))


def _nest(name: str, index_sizes: tuple[int, ...], rank: int) -> Nest:
    return Nest(
        name, rank, index_sizes, numbers=numbers_of(rank, len(index_sizes)), first_array=1, split=True
    )


def _index(address: Value, size: int) -> Value:
    return address.function.load(Type(f"i{8 * size}"), address).convert("sext", "i64")


def _check(index_sizes: tuple[int, ...], rank: int) -> str:
    nest = _nest("check", index_sizes, rank)
    body = nest.body

    def check(addresses: list[Value], _: list[Value]) -> None:
        for number, (address, size) in enumerate(zip(addresses, index_sizes, strict=True)):
            value, length = _index(address, size), body.numbers[f"length_{number}"]
            with body.when((value + length).compare("uge", length * 2)):
                body.fail(
                    Status.INDEX_OUT_OF_RANGE, value=value, dim=body.numbers[f"dim_{number}"], size=length
                )

    nest.loops(check)
    return body.text


def _read(itemsize: int, index_sizes: tuple[int, ...], rank: int) -> str:
    nest = _nest("read", index_sizes, rank)
    body, numbers = nest.body, nest.body.numbers
    unit = Type("i64", 2) if itemsize == 16 else Type(f"i{8 * itemsize}")
    inner, stride = numbers["inner"], numbers["inner_stride"]
    below = body.constant(I64, 1)
    for dim in range(1, rank):
        below = below * numbers[f"size_{dim}"]
    result = body.advance(body.array(len(index_sizes) + 1), body.begin * below * inner, itemsize)
    next_slice = body.walk(result, inner, itemsize)

    def read(addresses: list[Value], _: list[Value]) -> None:
        offset = body.constant(I64, 0)
        for number, (address, size) in enumerate(zip(addresses, index_sizes, strict=True)):
            value = _index(address, size)
            wrapped = value.compare("lt", 0).select(value + numbers[f"length_{number}"], value)
            offset = offset + wrapped * numbers[f"step_{number}"]
        next_x = body.walk(body.advance(body.array(0), offset, itemsize), stride, itemsize)
        next_target = body.walk(next_slice(), body.constant(I64, 1), itemsize)
        with body.loop(0, inner):
            body.store(body.load(unit, next_x()), next_target())

    nest.loops(read)
    return body.text
