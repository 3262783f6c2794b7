"""The reference backend beyond plain values: special values, errors, aliasing, scalars, layouts, speed of one add."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.special
import torch

from raxis import dtypes
from raxis.backends.meta import MetaBackend
from raxis.backends.reference.random import philox
from raxis.ptir import Builder, PrimitiveError, Program, Region, TensorType, Value
from tests.ptir.harness import BACKEND, Placed, apply, contiguous, execute, type_of

F32, F64, I64 = dtypes.float32, dtypes.float64, dtypes.int64
NAN, INF = float("nan"), float("inf")


def pure(function: object, *types: TensorType, by_value: Sequence[int] = ()) -> Program:
    """A program from a Python function of a builder and its parameters."""
    builder = Builder("test")
    parameters = [builder.parameter(type, position in by_value) for position, type in enumerate(types)]
    results = function(builder, *parameters)  # type: ignore[operator]
    return builder.build([results] if isinstance(results, Value) else results)


@pytest.mark.parametrize("name", ["erf", "erfc", "erfinv", "lgamma", "digamma"])
def test_special_functions_in_float64(name: str) -> None:
    rng = np.random.default_rng(7)
    oracle = {
        "erf": scipy.special.erf,
        "erfc": lambda x: torch.erfc(torch.from_numpy(x)).numpy(),
        "erfinv": scipy.special.erfinv,
        "lgamma": scipy.special.gammaln,
        "digamma": scipy.special.digamma,
    }
    values = np.concatenate(
        [
            rng.uniform(-1, 1, 20000),
            rng.uniform(-8, 26, 20000),
            rng.uniform(0, 200, 20000),
            np.geomspace(1e-300, 1e300, 5000),
        ]
    )
    if name == "erfinv":
        values = np.concatenate(
            [rng.uniform(-1, 1, 20000), 1 - np.geomspace(1e-16, 0.5, 2000), np.geomspace(1e-300, 0.5, 500)]
        )
    actual, expected = apply(name, values), oracle[name](values)
    if name == "lgamma":
        expected = np.where(values < 0, scipy.special.loggamma(values + 0j).real, expected)
    # Near the zeros of lgamma and digamma only the absolute error is small.
    scale = np.maximum(np.abs(expected), 1.0 if name in {"lgamma", "digamma"} else 0.0)
    finite = np.isfinite(expected)
    assert np.array_equal(np.isfinite(actual), finite)
    bound = {"erf": 5e-16, "erfc": 1e-15, "erfinv": 2e-15, "lgamma": 2e-14, "digamma": 1e-12}[name]
    error = np.abs(actual - expected)[finite] / np.maximum(scale[finite], 1e-300)
    assert error.max() < bound, (values[finite][error.argmax()], error.max())


def test_lgamma_is_relatively_accurate_near_its_zeros() -> None:
    # Abramowitz & Stegun 6.1.33, to second order; t is exact.
    euler, zeta_2 = 0.5772156649015329, np.pi**2 / 6
    t = np.array([1e-8, -1e-8, 1e-10, -1e-10, 2e-12])
    at_one, at_two = (1 + t) - 1, (2 + t) - 2
    np.testing.assert_allclose(apply("lgamma", 1 + t), -euler * at_one + zeta_2 / 2 * at_one**2, rtol=1e-14)
    np.testing.assert_allclose(
        apply("lgamma", 2 + t), (1 - euler) * at_two + (zeta_2 - 1) / 2 * at_two**2, rtol=1e-14
    )


def test_erfc_of_subnormal_result() -> None:
    # erfc(27) by mpmath, of which a subnormal number has five digits.
    np.testing.assert_allclose(apply("erfc", np.array([27.0])), [5.237048923789e-319], rtol=2e-5)


def test_special_functions_at_poles() -> None:
    poles = np.array([0.0, -1.0, -2.0, -INF, INF, NAN])
    np.testing.assert_array_equal(apply("lgamma", poles), [INF, INF, INF, INF, INF, NAN])
    np.testing.assert_array_equal(apply("digamma", poles), [-INF, NAN, NAN, NAN, INF, NAN])
    np.testing.assert_array_equal(apply("erfinv", np.array([1.0, -1.0, 1.5, NAN])), [INF, -INF, NAN, NAN])


KNOWN_ANSWERS = [
    ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN_ANSWERS)
def test_philox_known_answers(counter: list[int], key: list[int], words: str) -> None:
    result = philox(tuple(np.array([word], np.uint64) for word in counter), tuple(key))
    assert " ".join(f"{int(word[0]):08x}" for word in result) == words


def test_random_bits_order_and_offset() -> None:
    def draw(key: int, offset: int, **attributes: object) -> np.ndarray:
        return apply("random_bits", np.array(key), np.array(offset), **attributes)

    words = draw(0, 0, shape=(8,), dtype=dtypes.int32).view(np.uint32)
    assert [f"{word:08x}" for word in words[:4]] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]
    np.testing.assert_array_equal(words[4:], draw(0, 1, shape=(4,), dtype=dtypes.int32).view(np.uint32))
    wide = draw(0, 0, shape=(3,), dtype=I64).view(np.uint64)
    np.testing.assert_array_equal(wide, words[0:6:2] | words[1:6:2].astype(np.uint64) << np.uint64(32))
    # The counter is 64 bits wide and wraps; the high key word matters.
    assert draw(0, -1, shape=(8,), dtype=dtypes.int32)[4] == words.view(np.int32)[0]
    assert draw(1 << 32, 0, shape=(1,), dtype=dtypes.int32)[0] != words.view(np.int32)[0]
    assert draw(5, 5, shape=(0, 3), dtype=I64).shape == (0, 3)


def test_nan_in_reductions_and_sorting() -> None:
    values = np.array([[1.0, NAN, 3.0], [2.0, 0.0, -1.0]])
    np.testing.assert_array_equal(apply("reduce_max", values, dims=(1,)), [NAN, 2.0])
    np.testing.assert_array_equal(apply("reduce_min", values, dims=(1,)), [NAN, -1.0])
    np.testing.assert_array_equal(apply("argmax", values, dim=1), [1, 0])
    np.testing.assert_array_equal(apply("argmin", values, dim=1), [1, 2])
    np.testing.assert_array_equal(apply("cummax", values, dim=1), [[1, NAN, NAN], [2, 2, 2]])
    for dtype in (dtypes.float16, dtypes.bfloat16, F32):
        row = np.array([NAN, 1.0, NAN, -INF, INF]).astype(dtype.numpy)
        builder = Builder()
        program = builder.build(
            builder.emit("sort", builder.parameter(type_of(row)), dim=0, descending=True, stable=True)
        )
        ordered, indices = execute(program, [row])
        np.testing.assert_array_equal(ordered.astype(float), [NAN, NAN, INF, 1.0, -INF])
        assert list(indices) == [0, 2, 4, 1, 3]
        assert apply("argmax", row, dim=0) == 0


@pytest.mark.parametrize(
    "dtype", [dtypes.bool_, dtypes.uint8, dtypes.int32, dtypes.float16, dtypes.bfloat16, F64], ids=str
)
def test_reductions_over_nothing(dtype: dtypes.DType) -> None:
    empty = np.zeros((0, 2), dtype.numpy)
    limits = (False, True) if dtype is dtypes.bool_ else (-INF, INF)
    if dtype.category == dtypes.Category.INTEGER:
        limits = (np.iinfo(dtype.numpy).min, np.iinfo(dtype.numpy).max)
    assert list(apply("reduce_max", empty, dims=(0,))) == [limits[0]] * 2
    assert list(apply("reduce_min", empty, dims=(0,))) == [limits[1]] * 2
    if dtype.category <= dtypes.Category.INTEGER:
        assert list(apply("reduce_and", empty, dims=(0,))) == list(np.invert(np.zeros(2, dtype.numpy)))
    with pytest.raises(PrimitiveError, match="non-empty"):
        apply("argmax", empty, dim=0)


def test_half_sums_accumulate_in_float32() -> None:
    ones = np.ones(4096 + 3, np.float16)
    assert apply("reduce_sum", ones, dims=(0,)) == np.float16(4099)
    assert apply(
        "dot_general", ones, ones, lhs_batch=(), rhs_batch=(), lhs_contract=(0,), rhs_contract=(0,)
    ) == np.float16(4099)
    target = np.zeros(1, dtypes.bfloat16.numpy)
    updates = np.ones(300, target.dtype)
    assert apply("put", target, np.zeros(300, np.int64), updates, dim=0, reduce="add")[0] == 300


@pytest.mark.parametrize(
    ("primitive", "shapes", "attributes"),
    [
        ("gather", [(3,)], {"dim": 0}),
        ("take", [(3,)], {"dim": 0}),
        ("scatter", [(3,), (2,)], {"dim": 0, "reduce": "set"}),
        ("put", [(3,), (2,)], {"dim": 0, "reduce": "add"}),
    ],
)
@pytest.mark.parametrize("bad", [3, -1, 2**62])
def test_bad_index_writes_nothing(
    primitive: str, shapes: list[tuple[int, ...]], attributes: dict[str, object], bad: int
) -> None:
    x, *updates = (np.ones(shape, np.float32) for shape in shapes)
    operands = [x, np.array([0, bad]), *updates]
    builder = Builder()
    parameters = [builder.parameter(type_of(operand)) for operand in operands]
    program = builder.build([builder.emit(primitive, *parameters, **attributes)])
    output = Placed(np.full(program.results[0].type.shape, 7.0, np.float32))
    with pytest.raises(IndexError, match=f"index {bad} is out of bounds for dimension 0 with size 3"):
        execute(program, operands, [output])
    assert (output.view == 7.0).all()


def test_warnings_do_not_escape() -> None:
    with np.errstate(all="raise"):
        big = np.array([3e38, 0.0], np.float32)
        assert apply("mul", big, big)[0] == INF
        assert np.isnan(apply("div", big[1:], big[1:]))[0]
        assert apply("cast", np.array([1e300]), dtype=F32)[0] == INF
        builder = Builder()
        x = builder.parameter(TensorType(F32, (2,)))
        huge = builder.emit("exp", builder.emit("mul", x, x))
        assert execute(builder.build([huge]), [big])[0][0] == INF
        # and the caller's own settings are as before
        with pytest.raises(FloatingPointError):
            np.float64(1.0) / np.float64(0.0)


def test_integer_overflow_wraps() -> None:
    assert apply("add", np.array([127], np.int8), np.array([1], np.int8))[0] == -128
    assert apply("neg", np.array([1], np.uint8))[0] == 255
    assert apply("reduce_sum", np.full(3, 100, np.int8), dims=(0,)) == 300 - 256
    assert list(apply("pow", np.array([2, -1, 1, 0, 3]), np.array([-1, -3, -5, -1, 3]))) == [0, -1, 1, 0, 27]


VECTOR = TensorType(F32, (4,))
MATRIX = TensorType(F32, (3, 3))


@pytest.mark.parametrize("strides", [(3, 1), (1, 3), (8, 2)])
def test_results_may_be_the_parameters(strides: tuple[int, int]) -> None:
    program = pure(
        lambda b, x, y: [
            b.emit("transpose", b.emit("add", x, y), permutation=(1, 0)),
            b.emit("sub", x, y),
            x,
            y,
        ],
        MATRIX,
        MATRIX,
    )
    x, y = np.arange(9, dtype=np.float32).reshape(3, 3), np.full((3, 3), 2, np.float32)
    first, second = Placed(x, strides), Placed(y, strides)
    others = [Placed(np.zeros((3, 3), np.float32)) for _ in range(2)]
    results = execute(program, [first, second], [first, second, *others])
    for result, expected in zip(results, [(x + y).T, x - y, x, y], strict=True):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("function", "oracle"),
    [
        (lambda b, x: b.emit("transpose", x, permutation=(1, 0)), lambda x: x.T),
        (lambda b, x: b.emit("add", x, b.emit("transpose", x, permutation=(1, 0))), lambda x: x + x.T),
        (lambda b, x: b.emit("reverse", x, dims=(0, 1)), lambda x: x[::-1, ::-1]),
        (lambda b, x: b.emit("neg", b.emit("reverse", x, dims=(0,))), lambda x: -x[::-1]),
        (lambda b, x: b.emit("cumsum", x, dim=0), lambda x: x.cumsum(0)),
        (lambda b, x: b.emit("composite", x, name="swap", regions=[_swap()])[0], lambda x: x.T[::-1]),
    ],
)
def test_in_place(function: object, oracle: object) -> None:
    x = np.arange(9, dtype=np.float32).reshape(3, 3)
    place = Placed(x)
    execute(pure(function, MATRIX), [place], [place])
    np.testing.assert_array_equal(place.view, oracle(x))  # type: ignore[operator]


def _swap() -> object:
    builder = Builder()
    x = builder.parameter(MATRIX)
    turned = builder.emit("transpose", x, permutation=(1, 0))
    return builder.region([builder.emit("reverse", turned, dims=(0,))])


def test_the_same_region_may_run_several_times() -> None:
    region = _swap()
    program = pure(
        lambda b, x: b.emit(
            "composite",
            b.emit("composite", b.emit("neg", x), name="a", regions=[region])[0],
            name="b",
            regions=[region],
        ),
        MATRIX,
    )
    x = np.arange(9, dtype=np.float32).reshape(3, 3)
    np.testing.assert_array_equal(execute(program, [x])[0], -x.T[::-1].T[::-1])


def test_a_region_may_share_value_objects_with_the_program() -> None:
    builder = Builder()
    x, y = builder.parameter(VECTOR), builder.parameter(VECTOR)
    difference = builder.emit("sub", x, y)
    region = Region((x, y), builder.build([difference]).instructions, (difference,))
    (swapped,) = builder.emit("composite", y, x, name="reversed", regions=[region])
    values = np.arange(4, dtype=np.float32)
    results = execute(builder.build([swapped, difference, x]), [values, 2 * values])
    np.testing.assert_array_equal(results, [values, -values, values])


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda dtype: dtype.name)
def test_by_value_scalars(dtype: dtypes.DType) -> None:
    scalar, vector = TensorType(dtype, ()), TensorType(dtype, (4,))
    program = pure(
        lambda b, x, s: [
            b.emit("add", x, b.emit("broadcast", s, shape=(4,), dims=())),
            b.emit("broadcast", s, shape=(2, 2), dims=()),
            b.emit("mul", s, s),
            s,
        ],
        vector, scalar, by_value=[1],
    )  # fmt: skip
    number = {0: True, 1: 3, 2: 1.5, 3: 1.5 - 2j}[int(dtype.category)]
    x = np.array([0, 1, 2, 3]).astype(dtype.numpy)
    value = np.array(number).astype(dtype.numpy)
    results = execute(program, [x, number])
    for result, expected in zip(
        results, [x + value, np.full((2, 2), value), value * value, value], strict=True
    ):
        np.testing.assert_array_equal(result, expected)


def test_by_value_scalar_beside_bfloat16() -> None:
    bf16 = dtypes.bfloat16
    program = pure(
        lambda b, x, s: b.emit("nextafter", x, s), TensorType(bf16, ()), TensorType(bf16, ()), by_value=[1]
    )
    assert execute(program, [np.array(1.0, bf16.numpy), 2.0])[0] == 1 + 2**-7


def test_by_value_float_beyond_the_dtype() -> None:
    program = pure(
        lambda b, x, s: b.emit("mul", x, b.emit("broadcast", s, shape=(4,), dims=())),
        VECTOR,
        TensorType(F32, ()),
        by_value=[1],
    )
    np.testing.assert_array_equal(
        execute(program, [np.array([1, -1, 0, 2], np.float32), 1e300])[0], [INF, -INF, NAN, INF]
    )
    alone = pure(lambda b, s: s, TensorType(F32, ()), by_value=[0])
    assert execute(alone, [1e300])[0] == INF


def test_overlapping_and_repeated_parameters() -> None:
    base = Placed(np.arange(8, dtype=np.float32))
    windows = Placed(np.zeros((5, 4), np.float32))
    windows.buffer, windows.strides, windows.shape = base.buffer, (1, 1), (5, 4)
    repeated = Placed(np.zeros((5, 4), np.float32))
    repeated.buffer, repeated.strides, repeated.offset, repeated.shape = base.buffer, (0, 1), 2, (5, 4)
    program = pure(lambda b, x, y: b.emit("mul", x, y), TensorType(F32, (5, 4)), TensorType(F32, (5, 4)))
    rows = np.arange(5)[:, None] + np.arange(4)
    np.testing.assert_array_equal(execute(program, [windows, repeated])[0], rows * np.arange(2, 6))


def test_views_of_strided_parameters() -> None:
    x = np.arange(24, dtype=np.float32).reshape(4, 6)

    def views(b: Builder, x: Value) -> Value:
        part = b.emit("slice", x, start=(1, 0), stop=(4, 6), step=(2, 3))
        turned = b.emit("transpose", b.emit("reverse", part, dims=(1,)), permutation=(1, 0))
        flat = b.emit("reshape", turned, shape=(4,))
        return b.emit("neg", b.emit("unfold", flat, dim=0, size=2, step=1, dilation=2))

    flat = x[1:4:2, ::3][:, ::-1].T.reshape(-1)
    for strides in ((6, 1), (1, 4), (13, 2)):
        actual = execute(pure(views, type_of(x)), [Placed(x, strides, offset=5)])[0]
        np.testing.assert_array_equal(actual, -np.stack([flat[:2], flat[2:]], axis=1))


def test_while_with_zero_iterations_and_scan_over_nothing() -> None:
    body = Builder()
    carry, x = body.parameter(TensorType(F64, ())), body.parameter(TensorType(F64, ()))
    region = body.region([body.emit("add", carry, x), x])
    builder = Builder()
    start, xs = builder.parameter(TensorType(F64, ())), builder.parameter(TensorType(F64, (0,)))
    program = builder.build(builder.emit("scan", start, xs, carry_count=1, regions=[region]))
    final, stacked = execute(program, [np.array(3.0), np.zeros(0)])
    assert final == 3.0
    assert stacked.shape == (0,)


def test_nested_control_flow_in_regions() -> None:
    double = Builder()
    x = double.parameter(TensorType(F64, ()))
    doubled = double.region([double.emit("add", x, x)])
    same = Builder()
    unchanged = same.region([same.parameter(TensorType(F64, ()))])
    body = Builder()
    carry, x = body.parameter(TensorType(F64, ())), body.parameter(TensorType(F64, ()))
    small = body.emit("lt", x, body.constant(2.0, F64))
    (changed,) = body.emit("cond", small, carry, regions=[doubled, unchanged])
    (both,) = body.emit("composite", changed, name="again", regions=[doubled])
    region = body.region([both, both])
    builder = Builder()
    start, xs = builder.parameter(TensorType(F64, ())), builder.parameter(TensorType(F64, (3,)))
    program = builder.build(builder.emit("scan", start, xs, carry_count=1, regions=[region]))
    final, stacked = execute(program, [np.array(1.0), np.array([1.0, 2.0, 0.0])])
    assert final == 32.0
    assert list(stacked) == [4.0, 8.0, 32.0]


def test_threads_and_nested_calls() -> None:
    program = pure(lambda b, x, y: b.emit("div", x, y), VECTOR, VECTOR)
    failures = []

    def work() -> None:
        for _ in range(200):
            if not np.isinf(execute(program, [np.ones(4, np.float32), np.zeros(4, np.float32)])[0]).all():
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_matmul_of_large_strided_operands() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(65, 129)), rng.normal(size=(129, 33))
    program = pure(
        lambda b, x, y: b.emit("dot_general", x, y, lhs_batch=(), rhs_batch=(), lhs_contract=(1,), rhs_contract=(0,)),
        type_of(x), type_of(y),
    )  # fmt: skip
    for left, right in (((129, 1), (33, 1)), ((1, 65), (1, 129)), ((258, 2), (66, 2))):
        actual = execute(program, [Placed(x, left), Placed(y, right)])[0]
        np.testing.assert_allclose(actual, x @ y, rtol=1e-12, atol=1e-12)


def test_integer_matmul_is_exact() -> None:
    x = np.array([[2**40 + 1, 2**62]])
    contract = {"lhs_batch": (), "rhs_batch": (), "lhs_contract": (1,), "rhs_contract": (1,)}
    expected = (2**40 + 1) ** 2 + 2**124
    assert int(apply("dot_general", x, x, **contract)[0, 0]) == (expected + 2**63) % 2**64 - 2**63


def test_convolution_with_asymmetric_padding() -> None:
    x, weight = np.arange(4.0).reshape(1, 1, 4), np.ones((1, 1, 2))
    actual = apply("convolution", x, weight, stride=(1,), padding=((2, 0),), dilation=(1,), groups=1)
    assert list(actual[0, 0]) == [0, 0, 1, 3, 5]


def test_copies_and_host_views() -> None:
    buffer = BACKEND.allocate(16, 0)
    BACKEND.copy_from_host(np.arange(8, dtype=np.uint8), buffer, 4)
    target = np.zeros(4, np.uint8)
    BACKEND.copy_to_host(buffer, 6, target)
    assert list(target) == [2, 3, 4, 5]
    view = BACKEND.host_view(buffer)
    view[4] = 99
    BACKEND.copy_to_host(buffer, 4, target)
    assert target[0] == 99
    shared = BACKEND.wrap_host(target)
    target[0] = 5
    BACKEND.copy_to_host(shared, 0, view[:4])
    assert view[0] == 5


def test_meta_backend_has_no_data() -> None:
    meta = MetaBackend()
    assert meta.allocate(1 << 60, 0) is None
    meta.copy_from_host(np.zeros(4, np.uint8), None, 0)
    program = pure(lambda b, x: b.emit("neg", x), VECTOR)
    assert meta.compile(program, [(1,)], [(1,)])(None, 0, None, 0) is None
    with pytest.raises(NotImplementedError, match="no data"):
        meta.copy_to_host(None, 0, np.zeros(4, np.uint8))


def test_training_a_small_convolution_agrees_with_torch() -> None:
    rng = np.random.default_rng(11)
    x, weight = (rng.normal(size=shape).astype(np.float32) for shape in ((2, 4, 9, 9), (6, 2, 3, 3)))
    options = {"stride": (2, 2), "padding": ((1, 1), (1, 1)), "dilation": (1, 1), "groups": 2}
    expected = torch.nn.functional.conv2d(
        torch.from_numpy(x), torch.from_numpy(weight), stride=2, padding=1, groups=2
    )
    np.testing.assert_allclose(
        apply("convolution", x, weight, **options), expected.numpy(), rtol=1e-5, atol=1e-5
    )
    assert contiguous((2, 6, 5, 5)) == (150, 25, 5, 1)


def test_constants_are_folded() -> None:
    def program(b: Builder, x: Value) -> list[Value]:
        row = b.emit("broadcast", b.constant((1, 2, 3), F32, (3,)), shape=(3, 3), dims=(1,))
        column = b.emit("transpose", row, permutation=(1, 0))
        index = b.emit("reshape", b.emit("iota", shape=(3, 3), dtype=F32, dim=0), shape=(9,))
        return [b.emit("add", x, column), b.emit("reverse", row, dims=(1,)), index]

    added, reversed_row, index = execute(pure(program, MATRIX), [np.zeros((3, 3), np.float32)])
    np.testing.assert_array_equal(added, [[1, 1, 1], [2, 2, 2], [3, 3, 3]])
    np.testing.assert_array_equal(reversed_row, [[3, 2, 1]] * 3)
    np.testing.assert_array_equal(index, [0, 0, 0, 1, 1, 1, 2, 2, 2])


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("name", ["svd", "svdvals", "eigh", "eigvalsh", "eig"])
@pytest.mark.parametrize("number", [INF, -INF, NAN])
def test_decompositions_of_infinities_end(name: str, number: float, dtype: type) -> None:
    # Given these, LAPACK's own iteration need not.
    matrices = np.stack([np.diag([2.0, 1.0, 3.0, 4.0]), np.full((4, 4), number)]).astype(dtype)
    results = apply(name, matrices, **({"full": False} if name == "svd" else {}))
    for result in results if isinstance(results, (tuple, list)) else (results,):
        assert np.isfinite(result[0]).all()
        assert np.isnan(result[1]).all()
