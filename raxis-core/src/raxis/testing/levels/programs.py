"""How programs are called: by-value numbers, repeated operands, shared memory, in-place results, many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from raxis import dtypes
from raxis.dtypes import DType
from raxis.ops.table import OPS
from raxis.ptir import Builder, Program, TensorType, Value
from raxis.testing import answers
from raxis.testing.case import Case, Declined, Nonconformity, Subject, named, require
from raxis.testing.comparing import check_close
from raxis.testing.placed import APART, PLAIN, SHIFTED, Placed, call, execute

LEVEL = "programs"

F32, I64 = dtypes.float32, dtypes.int64
_SHAPE = (3, 4)


def _program(
    body: Callable[..., Sequence[Value]], *types: TensorType, by_value: Sequence[int] = ()
) -> Program:
    builder = Builder("test")
    parameters = [builder.parameter(type, place in by_value) for place, type in enumerate(types)]
    return builder.build(body(builder, *parameters))


def _emit(builder: Builder, primitive: str, *operands: Value, **attributes: object) -> Value:
    return builder.emit_all(primitive, operands, attributes)[0]


def _needs(subject: Subject, *primitives: str, dtype: DType = F32) -> None:
    for primitive in primitives:
        reason = subject.claim(primitive, dtype)
        if reason is not None:
            raise Declined(reason)


def _matrix(start: float = 0.0) -> np.ndarray:
    return (np.arange(12, dtype=np.float32) / 4 + np.float32(start)).reshape(_SHAPE)


_MATRIX = TensorType(F32, _SHAPE)
_NUMBER = TensorType(F32, ())


def _scalars(subject: Subject) -> None:
    """By-value numbers, alone, beside tensors on both sides, and integers beyond 32 bits."""
    _needs(subject, "mul", "sub", "broadcast")

    def body(builder: Builder, x: Value, a: Value, b: Value) -> list[Value]:
        wide = [_emit(builder, "broadcast", number, shape=_SHAPE, dims=()) for number in (a, b)]
        return [_emit(builder, "sub", wide[1], _emit(builder, "mul", x, wide[0]))]

    program = _program(body, _MATRIX, _NUMBER, _NUMBER, by_value=(1, 2))
    for a, b in ((2.5, -1.0), (0.1, 3.0), (float("inf"), 0.0), (7, 1)):
        for arrangement in (PLAIN, APART):
            (found,) = execute(
                subject, program, [Placed(subject, _matrix(1), arrangement), a, b], arrangement
            )
            check_close(
                found,
                np.float64(b) - _matrix(1).astype(float) * np.float32(a),
                F32,
                f"b - x * a, a={a}, b={b}",
            )
    _needs(subject, "add", dtype=I64)
    number = TensorType(I64, ())
    program = _program(lambda builder, x, y: [_emit(builder, "add", x, y)], number, number, by_value=(0, 1))
    (total,) = execute(subject, program, [1 << 40, 3])
    require(int(total) == (1 << 40) + 3, f"2**40 + 3 of two by-value numbers is {total}.")


def _repeated(subject: Subject) -> None:
    """Strides of 0 and operands of rank 0."""
    _needs(subject, "add")
    program = _program(lambda builder, x, y: [_emit(builder, "add", x, y)], _MATRIX, _MATRIX)
    row = np.broadcast_to(np.arange(4, dtype=np.float32), _SHAPE)
    for arrangement in (PLAIN, SHIFTED):
        first = Placed(subject, row, arrangement, repeated=True)
        for operands, expected in (
            ([first, Placed(subject, _matrix())], row + _matrix()),
            ([first, first], row + row),
        ):
            (found,) = execute(subject, program, operands, disjoint=operands[0] is not operands[1])
            check_close(found, expected, F32, "a sum with an operand of stride 0")


def _same_buffer(subject: Subject) -> None:
    """One buffer for two operands, at different offsets."""
    _needs(subject, "sub")
    program = _program(lambda builder, x, y: [_emit(builder, "sub", x, y)], *[TensorType(F32, (4,))] * 2)
    whole = Placed(subject, np.arange(10, dtype=np.float32) ** 2)
    output = Placed(subject, np.zeros(4, np.float32))
    executable = subject.backend.compile(program, [(1,), (1,)], [(1,)])
    executable(whole.buffer, 5, whole.buffer, 2, output.buffer, 0)
    subject.backend.synchronize(subject.index)
    data = np.arange(10, dtype=np.float32) ** 2
    check_close(output.read(), data[5:9] - data[2:6], F32, "the difference of two parts of one buffer")


def _in_place(subject: Subject) -> None:
    """Results written over parameters, which other results and other reads of these parameters still need."""
    _needs(subject, "add", "mul", "reverse")

    def body(builder: Builder, x: Value, y: Value) -> list[Value]:
        turned = _emit(builder, "reverse", x, dims=(0, 1))
        return [_emit(builder, "add", turned, y), _emit(builder, "mul", x, y)]

    program = _program(body, _MATRIX, _MATRIX)
    for arrangement in (PLAIN, APART, SHIFTED):
        x, y = Placed(subject, _matrix(1), arrangement), Placed(subject, _matrix(-3), arrangement)
        call(subject, program, [x, y], [x, y], in_place=2)
        check_close(
            x.read(), _matrix(1)[::-1, ::-1] + _matrix(-3), F32, f"the first in-place result, {arrangement}"
        )
        check_close(y.read(), _matrix(1) * _matrix(-3), F32, f"the second in-place result, {arrangement}")
    x, product = Placed(subject, _matrix(1)), Placed(subject, _matrix())
    call(subject, program, [x, x], [x, product], in_place=1, disjoint=False)
    check_close(x.read(), _matrix(1)[::-1, ::-1] + _matrix(1), F32, "an in-place result over both parameters")
    check_close(product.read(), _matrix(1) ** 2, F32, "a second result beside an in-place one")


def _repeated_calls(subject: Subject) -> None:
    """One executable, many calls, other buffers, offsets and numbers each time; results are not kept."""
    _needs(subject, "add", "broadcast")
    vector = TensorType(F32, (5,))

    def body(builder: Builder, x: Value, a: Value) -> list[Value]:
        return [_emit(builder, "add", x, _emit(builder, "broadcast", a, shape=(5,), dims=()))]

    executable = subject.backend.compile(_program(body, vector, _NUMBER, by_value=(1,)), [(1,), None], [(1,)])
    data = np.arange(16, dtype=np.float32)
    for number in range(6):
        whole, output = Placed(subject, data + number), Placed(subject, np.zeros(12, np.float32))
        executable(whole.buffer, number, float(number), output.buffer, number + 1)
        subject.backend.synchronize(subject.index)
        expected = np.zeros(12, np.float32)
        expected[number + 1 : number + 6] = (data + 2 * number)[number : number + 5]
        check_close(output.read(), expected, F32, f"call {number} of one executable")


def _chained(subject: Subject) -> None:
    """What one program writes the next one reads, with no wait between."""
    _needs(subject, "add")
    program = _program(lambda builder, x: [_emit(builder, "add", x, x)], TensorType(F32, (1000,)))
    executable = subject.backend.compile(program, [(1,)], [(1,)], disjoint=True)
    buffers = [Placed(subject, np.ones(1000, np.float32)) for _ in range(12)]
    for source, target in pairwise(buffers):
        executable(source.buffer, 0, target.buffer, 0)
    check_close(buffers[-1].read(), np.full(1000, 2.0**11), F32, "eleven doublings in a row")


def _several_results(subject: Subject) -> None:
    """A parameter, a constant and one value twice, all returned."""
    _needs(subject, "add")

    def body(builder: Builder, x: Value) -> list[Value]:
        twice = _emit(builder, "add", x, x)
        return [
            x,
            twice,
            builder.constant(2.5, F32, (2,)),
            twice,
            _emit(builder, "transpose", twice, permutation=(1, 0)),
        ]

    results = execute(subject, _program(body, _MATRIX), [Placed(subject, _matrix(), APART)])
    expected = (_matrix(), 2 * _matrix(), np.full(2, 2.5), 2 * _matrix(), 2 * _matrix().T)
    for number, (found, right) in enumerate(zip(results, expected, strict=True)):
        check_close(found, right, F32, f"result {number} of five")


def _without_results(subject: Subject) -> None:
    program = _program(lambda *_: [], _MATRIX)
    require(
        execute(subject, program, [Placed(subject, _matrix())]) == [], "a program without results has some."
    )


def _large(subject: Subject) -> None:
    """More elements than one work-group, block or thread has."""
    _needs(subject, "mul", "reduce_sum")
    size = 100_003
    data = (np.arange(size) % 97 / 8).astype(np.float32)

    def body(builder: Builder, x: Value) -> list[Value]:
        square = _emit(builder, "mul", x, x)
        return [square, _emit(builder, "reduce_sum", square, dims=(0,))]

    square, total = execute(subject, _program(body, TensorType(F32, (size,))), [Placed(subject, data)])
    check_close(square, data.astype(float) ** 2, F32, f"{size} squares")
    check_close(total, np.sum(data.astype(float) ** 2), F32, f"the sum of {size} squares", factor=100)


_CHAIN = ("add", "sub", "mul", "maximum", "minimum", "neg", "abs", "floor", "sign")


def _random(number: int, subject: Subject) -> None:
    """A program of a dozen random instructions."""
    _needs(subject, *_CHAIN, "reduce_sum", "transpose", "broadcast")
    rng = np.random.default_rng(number)
    builder = Builder("random")
    values: list[Value] = [builder.parameter(_MATRIX) for _ in range(3)]
    for _ in range(12):
        name = _CHAIN[rng.integers(len(_CHAIN))]
        first, second = (values[rng.integers(len(values))] for _ in range(2))
        operands = [first] if name in ("neg", "abs", "floor", "sign") else [first, second]
        values.append(_emit(builder, name, *operands))
        if rng.integers(4) == 0:
            total = _emit(builder, "reduce_sum", values[-1], dims=(0,))
            values.append(_emit(builder, "broadcast", total, shape=_SHAPE, dims=(1,)))
    program = builder.build(values[-3:])
    arrays = [(rng.integers(-8, 9, _SHAPE) / 8).astype(np.float32) for _ in range(3)]
    expected = answers.run(program, arrays)
    found = execute(subject, program, [Placed(subject, array, APART) for array in arrays], SHIFTED)
    for one, other in zip(found, expected, strict=True):
        check_close(one, other, F32, f"a result of the random program of seed {number}:\n{program}")


def _error_leaves_results(subject: Subject) -> None:
    """An index out of range raises IndexError or RuntimeError and writes nothing."""
    _needs(subject, "take")
    program = _program(
        lambda builder, x, index: [_emit(builder, "take", x, index, dim=0)], _MATRIX, TensorType(I64, (2,))
    )
    for wrong in (3, -1, 1 << 40):
        output = Placed(subject, np.full((2, 4), 7, np.float32))
        operands = [Placed(subject, _matrix()), Placed(subject, np.array([0, wrong]))]
        try:
            call(subject, program, operands, [output])
        except (IndexError, RuntimeError) as error:
            if isinstance(error, Nonconformity):
                raise
            text = str(error)
            require(
                str(wrong) in text and "3" in text, f"the error must name index {wrong} and size 3: {text!r}."
            )
        else:
            require(False, f"index {wrong} into 3 rows was accepted.")
        check_close(output.read(), np.full((2, 4), 7.0), F32, "the result after an error")


def _integer_division_by_zero(subject: Subject) -> None:
    _needs(subject, "div", dtype=I64)
    type = TensorType(I64, (3,))
    program = _program(lambda builder, x, y: [_emit(builder, "div", x, y)], type, type)
    operands = [Placed(subject, np.array([1, 2, 3])), Placed(subject, np.array([1, 0, 2]))]
    try:
        execute(subject, program, operands)
    except RuntimeError as error:
        require(
            "zero" in str(error).lower(), f"the error of an integer division by zero says {str(error)!r}."
        )
    else:
        require(False, "an integer division by zero was accepted.")


def _claimed_composites(subject: Subject) -> None:
    """Each claimed composite is an op, and has a factory."""
    for name, factory in subject.backend.composites.items():
        require(name in OPS and callable(factory), f"composite {name!r} has no kernel factory.")


def cases() -> Iterator[Case]:
    """Cases of calls."""
    yield from named(
        LEVEL,
        {
            "scalars": _scalars,
            "repeated": _repeated,
            "same_buffer": _same_buffer,
            "in_place": _in_place,
            "repeated_calls": _repeated_calls,
            "chained": _chained,
            "several_results": _several_results,
            "without_results": _without_results,
            "large": _large,
            "error_leaves_results": _error_leaves_results,
            "integer_division_by_zero": _integer_division_by_zero,
            "claimed_composites": _claimed_composites,
        },
    )
    for number in range(8):
        yield Case(LEVEL, f"random[{number}]", partial(_random, number))
