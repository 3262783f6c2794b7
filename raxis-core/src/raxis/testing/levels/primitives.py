"""Every primitive in every dtype: values in all arrangements, special numbers, repetition, and refusals."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from raxis import dtypes
from raxis.dtypes import DType
from raxis.ptir import PRIMITIVES
from raxis.ptir.primitives import FAMILIES
from raxis.testing.answers import answers
from raxis.testing.applications import Application, of_primitive
from raxis.testing.case import Case, Declined, Subject, is_sentence, require
from raxis.testing.comparing import check_close, check_identical
from raxis.testing.factorizations import CHECKS
from raxis.testing.placed import APART, PLAIN, SHIFTED, Arrangement, Placed, execute

LEVEL = "primitives"

_SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 30.0, float("inf"), float("-inf"), float("nan"))
_EXACT = frozenset(
    {"neg", "abs", "sign", "floor", "ceil", "round", "trunc", "maximum", "minimum", "select", "add", "sub", "mul",
     "reverse", "transpose", "reshape", "broadcast", "slice", "concatenate", "gather", "take"}
)  # fmt: skip
_WITHOUT_SIGN_OF_ZERO = frozenset({"maximum", "minimum", "sign"})


def cases() -> Iterator[Case]:
    """One case for each primitive and dtype, then those of special numbers."""
    for name in PRIMITIVES:
        for dtype in dtypes.ALL:
            applications = [item for item in of_primitive(name) if item.admits(dtype)]
            if applications:
                yield Case(LEVEL, f"{name}[{dtype.name}]", partial(_primitive, applications, dtype))
    for name in PRIMITIVES:
        for dtype in (dtypes.float32, dtypes.float64):
            if FAMILIES[name] == "elementwise" and dtype in PRIMITIVES[name].admitted and name != "cast":
                yield Case(LEVEL, f"special/{name}[{dtype.name}]", partial(_special, name, dtype))


def _primitive(applications: Sequence[Application], dtype: DType, subject: Subject) -> None:
    name = applications[0].primitive
    reason = subject.claim(name, dtype)
    if reason is not None:
        check_refusal(subject, applications[0], dtype)
        raise Declined(reason)
    for number, application in enumerate(applications):
        if _claimed(subject, application):
            rng = np.random.default_rng(zlib.crc32(f"{name}{dtype.name}{number}".encode()))
            _check_values(subject, application, dtype, application.operands(dtype, rng))


def _claimed(subject: Subject, application: Application) -> bool:
    """Whether the device claims the dtype that a cast is to."""
    return application.primitive != "cast" or subject.claim("cast", application.attributes["dtype"]) is None


def check_refusal(subject: Subject, application: Application, dtype: DType) -> None:
    """Fail unless compiling what ``supports`` denies raises NotImplementedError with primitive, dtype and device."""
    program = application.program(dtype)
    plain = [tuple(PLAIN.strides(value.type.shape)) for value in (*program.parameters, *program.results)]
    count = len(program.parameters)
    try:
        subject.backend.compile(program, plain[:count], plain[count:])
    except NotImplementedError as error:
        text = str(error)
        missing = [word for word in (application.primitive, dtype.name, subject.type) if word not in text]
        require(not missing and is_sentence(text), f"the refusal {text!r} must name {missing} in a sentence.")
        return
    require(False, f"supports() denies {application.primitive} of {dtype.name}, but compile() accepts it.")


def _check_values(
    subject: Subject, application: Application, dtype: DType, arrays: Sequence[np.ndarray]
) -> None:
    expected = answers(application, dtype, arrays)
    for arrangement, results in ((PLAIN, PLAIN), (APART, SHIFTED), (SHIFTED, APART)):
        found = _run(subject, application, dtype, arrays, arrangement, results)
        _compare(application, dtype, arrays, found, expected, f"{application} of {dtype.name}, {arrangement}")
    again = _run(subject, application, dtype, arrays, arrangement, results)
    for one, other in zip(found, again, strict=True):
        require(
            one.tobytes() == other.tobytes(),
            f"{application} of {dtype.name} gave other bits the second time.",
        )


def _run(
    subject: Subject,
    application: Application,
    dtype: DType,
    arrays: Sequence[np.ndarray],
    arrangement: Arrangement,
    results: Arrangement,
) -> list[np.ndarray]:
    placed = [Placed(subject, array, arrangement) for array in arrays]
    return execute(subject, application.program(dtype), placed, results)


def _compare(
    application: Application,
    dtype: DType,
    arrays: Sequence[np.ndarray],
    found: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
    what: str,
) -> None:
    program = application.program(dtype)
    check = CHECKS.get(application.primitive)
    for value, one, other in zip(program.results, found, expected, strict=True):
        if check is None:
            check_close(one, other, value.type.dtype, what)
        else:
            require(one.dtype == value.type.dtype.numpy, f"{what}: got {one.dtype}, expected {value.type}.")
    if check is not None:
        check(arrays, found, dtype, what)


def _special(name: str, dtype: DType, subject: Subject) -> None:
    reason = subject.claim(name, dtype)
    if reason is not None:
        raise Declined(reason)
    arity = PRIMITIVES[name].arity or 1
    grid = np.meshgrid(*[np.array(_SPECIAL, dtype.numpy)] * min(arity, 2), indexing="ij")
    arrays = [np.ascontiguousarray(axis) for axis in grid]
    if name == "select":
        arrays.insert(0, np.arange(arrays[0].size).reshape(arrays[0].shape) % 2 == 0)
    fixed = {0: dtypes.bool_} if name == "select" else {}
    application = Application(name, [array.shape for array in arrays], fixed=fixed)
    found = execute(subject, application.program(dtype), [Placed(subject, array) for array in arrays])
    result = application.program(dtype).results[0].type.dtype
    expected = answers(application, dtype, arrays)
    what = f"{name} of {dtype.name} at {_SPECIAL}"
    for one, other in zip(found, expected, strict=True):
        check_close(one, other, result, what, factor=10)
        if name in _EXACT - _WITHOUT_SIGN_OF_ZERO:
            check_identical(one, other.astype(one.dtype), what)
