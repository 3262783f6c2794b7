"""Plans: what an op does for operands of given layouts, worked out once.

A plan for a lowered op holds the compiled program; a plan for a view holds the stride arithmetic's result. `launch`
and `viewing` make the function from it that a call runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from raxis.autograd.record import Recorders
from raxis.device import Device
from raxis.dtypes import Category, DType, can_cast, scalar_category
from raxis.errors import MixedDevicesError
from raxis.layout import Layout, Strides, broadcast_shapes, contiguous_strides, dense_strides_like, layout_of
from raxis.ops.promotion import Promotion, computation_dtype, widest_dtype_of
from raxis.ops.schema import Parameter
from raxis.ops.table import Op
from raxis.ops.trace import Traced, Tracer, broadcast, cast, constant, tracing
from raxis.placement import get_default_device, place_of
from raxis.ptir.program import Program
from raxis.storage import Place
from raxis.tensor import Tensor


class Plan:
    """The cached decision for one op and one key.

    Attributes:
        op: the record.
        static: the normalised static arguments by name.
        results: layouts of the results.
        program: the recorded program (None for views).
        place: where it runs.
        recorders: what puts a call on the tape; None if no gradient flows through the op.
        random_blocks: Philox counters one call consumes.
        uses_random: whether the executable takes a key and an offset (also where it draws nothing).
    """

    __slots__ = (
        "execute", "op", "place", "program",
        "random_blocks", "recorders", "results", "static", "uses_random",
    )  # fmt: skip

    def __init__(self, op: Op, arguments: Sequence[Any], results: tuple[Layout, ...]) -> None:
        self.op = op
        self.static = static_arguments(op, arguments)
        self.results = results
        self.program: Program | None = None
        self.place: Place | None = None
        self.execute: Callable[..., Any] | None = None
        self.random_blocks = 0
        self.uses_random = False
        differentiable = op.vjp and any(layout.dtype.category >= Category.FLOAT for layout in results)
        self.recorders = Recorders(self, arguments) if differentiable else None


def static_arguments(op: Op, arguments: Sequence[Any]) -> dict[str, Any]:
    """The static arguments by name."""
    pairs = zip(op.parameters, arguments, strict=True)
    return {
        parameter.name: value
        for parameter, value in pairs
        if parameter.is_static and parameter.type != "Generator"
    }


def tensor_operands(op: Op, arguments: Sequence[Any]) -> list[Tensor]:
    """All tensors among the arguments, lists flattened."""
    pairs = zip(op.parameters, arguments, strict=True)
    return [tensor for parameter, value in pairs if parameter.is_tensor for tensor in tensors_in(value)]


def tensors_in(argument: Any) -> list[Tensor]:
    """The tensors of one argument: itself, those of a list, or none."""
    items = argument if isinstance(argument, (tuple, list)) else (argument,)
    return [item for item in items if isinstance(item, Tensor)]


def common_device(op: Op, arguments: Sequence[Any]) -> Device:
    """The one device of the operands, or the ``device`` argument of ops without operands.

    Raises:
        RuntimeError: if the operands live on different devices.
    """
    operands = tensor_operands(op, arguments)
    if not operands:
        named = static_arguments(op, arguments).get("device")
        return named if named is not None else get_default_device()
    return device_of_all(op.public_name, operands)


def device_of_all(name: str, operands: Sequence[Tensor], remedy: str = "") -> Device:
    """The one device of tensors that `name` works on; `remedy` is what else to do about several.

    Raises:
        RuntimeError: if they live on different devices.
    """
    device = max((operand._layout.device for operand in operands), key=lambda known: known.depth)
    if not all(device.covers(operand._layout.device) for operand in operands):
        names = sorted({str(operand._layout.device) for operand in operands})
        raise MixedDevicesError(
            f"{name}()",
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{' and '.join(names)}! Move them with .to(device) first.{remedy}",
        )
    return device


def trace(op: Op, arguments: Sequence[Any], target: Layout | None = None) -> tuple[Program, Tracer]:
    """Record the program of an op call; results are cast to `target`'s dtype and shape if given."""
    tracer = Tracer(op.name, common_device(op, arguments))
    with tracing(tracer):
        dtype = _chosen_dtype(op, arguments)
        values = {
            parameter.name: _stand_in(tracer, op, parameter, value, dtype)
            for parameter, value in zip(op.parameters, arguments, strict=True)
            if parameter.type != "Generator"
        }
        results = lower(op, values, dtype)
        if target is not None:
            results = _fit(op, results, target)
    produced = results if isinstance(results, (tuple, list)) else (results,)
    return tracer.builder.build([result._value for result in produced], _attributes(op, arguments)), tracer


def _attributes(op: Op, arguments: Sequence[Any]) -> dict[str, Any]:
    """The static arguments a program is labelled with (devices are not part of a portable program)."""
    static = static_arguments(op, arguments).items()
    return {name: value for name, value in static if value is not None and not isinstance(value, Device)}


def _fit(op: Op, results: Any, target: Layout) -> Traced:
    result = results[0] if isinstance(results, (tuple, list)) else results
    check_writable(op.name, result._layout.dtype, result._layout.shape, target)
    return broadcast(cast(result, target.dtype), target.shape)  # type: ignore[return-value]


def check_writable(
    name: str,
    dtype: DType,
    shape: tuple[int, ...],
    target: Layout,
    refusal: type[Exception] = RuntimeError,
) -> None:
    """Raise RuntimeError (`refusal` for the dtype) unless such values may be written into `target`."""
    if not can_cast(dtype, target.dtype):
        raise refusal(
            f"{name}: result type {dtype.name} can't be cast to the desired output type {target.dtype.name}"
        )
    if shape != target.shape and broadcast_shapes(shape, target.shape) != target.shape:
        raise RuntimeError(
            f"{name}: output with shape {list(target.shape)} doesn't match the broadcast shape {list(shape)}"
        )


def promoted_operands(op: Op, values: Any) -> list[Any]:
    """The tensors and numbers that take part in promotion."""
    found: list[Any] = []
    for name in op.promoted:
        value = values[name]
        items = value if isinstance(value, (tuple, list)) else (value,)
        found.extend(item for item in items if item is not None)
    return found


def _chosen_dtype(op: Op, arguments: Sequence[Any]) -> DType | None:
    if op.promotion is Promotion.NONE:
        return None
    values = {parameter.name: value for parameter, value in zip(op.parameters, arguments, strict=True)}
    return computation_dtype(op.promotion, promoted_operands(op, values))


def _stand_in(tracer: Tracer, op: Op, parameter: Parameter, value: Any, dtype: DType | None) -> Any:
    if value is None or parameter.is_static:
        return value
    if isinstance(value, tuple):
        return tuple(_stand_in(tracer, op, parameter, item, dtype) for item in value)
    if isinstance(value, Tensor):
        return tracer.parameter(value._layout.dtype, value._layout.shape)
    if value is parameter.default:
        return value
    own = scalar_category(type(value))
    if dtype is not None and own > dtype.category and parameter.name not in op.promoted:
        raise RuntimeError(
            f"{op.public_name}(): For {dtype.category.name.lower()} input tensors, argument {parameter.name} must "
            f"not be a {own.name.lower()} number, but got {value!r}."
        )
    return tracer.parameter(dtype or widest_dtype_of(own), (), by_value=True)


def lower(op: Op, values: dict[str, Any], dtype: DType | None = None) -> Any:
    """Run an op's lowering on traced operands: promote, broadcast, then the body."""
    body = op.lower or op.body
    if op.promotion is Promotion.NONE:
        return body(**{name: _as_operand(op, name, value) for name, value in values.items()})
    operands = promoted_operands(op, values)
    if dtype is None:
        dtype = computation_dtype(op.promotion, operands)
    shape = broadcast_shapes(*[operand._layout.shape for operand in operands if isinstance(operand, Tensor)])
    ready = dict(values)
    for parameter in op.parameters:
        name = parameter.name
        if name in op.promoted:
            ready[name] = _prepare(values[name], dtype, shape)
        elif parameter.is_scalar and values[name] is not None and values[name] is not parameter.default:
            ready[name] = _prepare(values[name], dtype, ())
    return body(**ready)


def _as_operand(op: Op, name: str, value: Any) -> Any:
    """A number given to an op inside another's lowering, as a rank-0 traced tensor."""
    parameter = op.parameters[op.schema.position(name)]
    number = parameter.is_scalar or parameter.type == "Tensor|Scalar"
    if not number or value is None or isinstance(value, (Tensor, tuple)) or value is parameter.default:
        return value
    return constant(value, widest_dtype_of(scalar_category(type(value))))


def _prepare(value: Any, dtype: DType, shape: tuple[int, ...]) -> Any:
    if value is None:
        return None
    if isinstance(value, (tuple, list)):
        return tuple(_prepare(item, dtype, shape) for item in value)
    operand = value if isinstance(value, Tensor) else constant(value, dtype)
    return broadcast(cast(operand, dtype), shape)


def traced_plan(op: Op) -> Callable[..., Any]:
    """The `run` of a call on traced operands: record into the program being traced."""
    names = [parameter.name for parameter in op.parameters]

    def run(*arguments: Any) -> Any:
        from raxis.ops.arguments import normalise

        values = dict(zip(names, normalise(op, arguments), strict=True))
        values.pop("generator", None)
        return lower(op, values)

    return run


def build(op: Op, arguments: Sequence[Any], target: Layout | None = None) -> Plan:
    """Trace, compile and specialise a lowered op for these (normalised) arguments."""
    program, tracer = trace(op, arguments, target)
    operands = tensor_operands(op, arguments)
    layouts = [target] if target is not None else _result_layouts(op, program, operands, tracer.device)
    for layout in layouts:
        layout.check_nbytes()
    plan = Plan(op, arguments, tuple(layouts))
    plan.program = program
    plan.place = place_of(tracer.device)
    plan.random_blocks = tracer.random_blocks
    plan.uses_random = tracer.uses_random
    inputs = _operand_strides(op, arguments, tracer)
    outputs = [layout.strides for layout in layouts]
    plan.execute = _compile(op, plan.place, program, inputs, outputs, in_place=int(target is not None))
    return plan


def _compile(
    op: Op,
    place: Place,
    program: Program,
    inputs: list[Strides | None],
    outputs: list[Strides],
    *,
    in_place: int,
) -> Any:
    factory = place.backend.composites.get(op.name) if op.composite and not in_place else None
    kernel = factory(program, inputs, outputs) if factory is not None else None
    return (
        kernel if kernel is not None else place.backend.compile(program, inputs, outputs, in_place=in_place)
    )


def _is_elementwise(op: Op, shape: tuple[int, ...], operands: list[Tensor]) -> bool:
    """Whether a result is one that operands broadcast to, so that it keeps their order of dimensions."""
    return op.promotion is not Promotion.NONE and all(
        len(own) <= len(shape)
        and all(size in (1, wanted) for size, wanted in zip(own[::-1], shape[::-1], strict=False))
        for own in (operand._layout.shape for operand in operands)
    )


def _result_layouts(op: Op, program: Program, operands: list[Tensor], device: Device) -> list[Layout]:
    layouts = []
    for value in program.results:
        shape = value.type.shape
        if _is_elementwise(op, shape, operands):
            strides = dense_strides_like(shape, [operand._layout for operand in operands])
        else:
            strides = contiguous_strides(shape)
        layouts.append(layout_of(value.type.dtype, shape, strides, device))
    return layouts


def _operand_strides(op: Op, arguments: Sequence[Any], tracer: Tracer) -> list[Strides | None]:
    strides: list[Strides | None] = []
    for parameter, value in zip(op.parameters, arguments, strict=True):
        if value is None or parameter.is_static:
            continue
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Tensor):
                strides.append(item._layout.strides)
            elif item is not None and item is not parameter.default:
                strides.append(None)
    return [*strides, None, None] if tracer.uses_random else strides
