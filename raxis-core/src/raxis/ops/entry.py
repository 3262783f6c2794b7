"""From a record to callables: the generated function, in-place form and methods of each op.

The functions are generated source because the hit path must do nothing but one dict access: no argument
binding at run time, no loops over parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from raxis.ops import call
from raxis.ops.composition import composed_function, composed_inplace, composed_operator
from raxis.ops.creating import created_function
from raxis.ops.methods import TensorMethods
from raxis.ops.schema import REQUIRED, Parameter
from raxis.ops.source import deferred_function
from raxis.ops.table import Kind, Op

FUNCTIONS: dict[str, dict[str, Callable[..., Any]]] = {}
"""Public functions by namespace and name."""


def publish(op: Op) -> Callable[..., Any]:
    """Make and attach everything callable of `op`; the plain function is returned."""
    composed = op.kind is Kind.COMPOSED
    if composed:
        function = created_function(op) if op.creates else composed_function(op)
    else:
        function = _functional_entry(op)
    for name in (op.name, *op.aliases):
        if op.function:
            FUNCTIONS.setdefault(op.namespace, {})[name] = function
        if op.method:
            setattr(TensorMethods, name, property(function) if op.attribute else function)
    if op.inplace:
        _publish_inplace(op, composed_inplace(op) if composed else _inplace_entry(op))
    if op.operator:
        _publish_operator(op, function)
    return function


_UNARY = frozenset({"__abs__", "__invert__", "__neg__", "__pos__"})
_NOT_REFLECTED = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})


def _publish_operator(op: Op, function: Callable[..., Any]) -> None:
    """Attach ``__op__``, ``__rop__`` and ``__iop__``; unknown operands give NotImplemented."""
    if op.operator in _UNARY:
        setattr(TensorMethods, op.operator, function)
        return
    make = composed_operator if op.kind is Kind.COMPOSED else _operator_entry
    setattr(TensorMethods, op.operator, make(op, op.operator, False))
    if op.operator in _NOT_REFLECTED:
        return
    stem = op.operator.strip("_")
    setattr(TensorMethods, f"__r{stem}__", make(op, f"__r{stem}__", True))
    if op.inplace:
        setattr(TensorMethods, f"__i{stem}__", getattr(TensorMethods, f"{op.name}_"))


def _operator_entry(op: Op, name: str, reflected: bool) -> Callable[..., Any]:
    def make() -> tuple[str, dict[str, Any]]:
        operands = [parameter.name for parameter in op.parameters if parameter.is_tensor]
        if reflected:
            operands.reverse()
        places = list(enumerate(op.parameters))
        values = ", ".join(p.name if p.is_tensor else f"_d{position}" for position, p in places)
        key = ", ".join(
            _operator_key_part(operands[0], parameter, position) for position, parameter in places
        )
        body = [
            "try:",
            f"    run = _plans[{key}]",
            "except Exception:",
            f"    return _call(_op, ({values},), {operands[0]})",
            f"return run({values})",
        ]
        return _source(op, name, ", ".join(operands), body, _plans=op.plans, _call=call.call_operator)

    return _deferred(op, name, make)


def _operator_key_part(self: str, parameter: Parameter, position: int) -> str:
    if parameter.name == self:
        return f"{self}._layout"
    if parameter.is_tensor:
        return _key_part(parameter, position)
    return "False" if parameter.is_scalar else f"_d{position}"


def _publish_inplace(op: Op, function: Callable[..., Any]) -> None:
    for name in (op.name, *op.aliases):
        if op.method:
            setattr(TensorMethods, f"{name}_", function)
        if op.function:
            FUNCTIONS.setdefault(op.namespace, {})[f"{name}_"] = function


def signature(op: Op, *, out: bool) -> str:
    """The parameter list of the op's Python function."""
    items = []
    starred = False
    for position, parameter in enumerate(op.parameters):
        if parameter.varargs:
            items += [f"{parameter.name}=_absent", "*_more"]  # not *name: the name also works as a keyword
            starred = True
            continue
        if parameter.keyword_only and not starred:
            items.append("*")
            starred = True
        default = "" if parameter.default is REQUIRED else f"=_d{position}"
        items.append(parameter.name + default)
    if out:
        items.extend(["out=None"] if starred else ["*", "out=None"])
    return ", ".join(items)


def _functional_entry(op: Op) -> Callable[..., Any]:
    def make() -> tuple[str, dict[str, Any]]:
        arguments = _arguments(op)
        body = [
            "if out is None:" if op.out else "if True:",
            "    try:",
            f"        run = _plans[{key_expression(op)}]",
            "    except Exception:",
            "        pass",
            "    else:",
            f"        return run({arguments})",
            f"return _call(_op, ({arguments},), {'out' if op.out else 'None'})",
        ]
        return _source(op, op.name, signature(op, out=op.out), body, _plans=op.plans, _call=call.call)

    return _deferred(op, op.name, make)


def _inplace_entry(op: Op) -> Callable[..., Any]:
    name = f"{op.name}_"

    def make() -> tuple[str, dict[str, Any]]:
        arguments = _arguments(op)
        body = [
            "try:",
            f"    run = _plans[{key_expression(op)}]",
            "except Exception:",
            f"    return _call(_op, ({arguments},))",
            f"return run({arguments})",
        ]
        return _source(
            op, name, signature(op, out=False), body, _plans=op.inplace_plans, _call=call.call_inplace
        )

    return _deferred(op, name, make)


def _arguments(op: Op) -> str:
    return ", ".join(parameter.name for parameter in op.parameters)


def key_expression(op: Op) -> str:
    """Source of the cache key: layouts of tensors, types of numbers, values of static arguments."""
    parts = [
        _key_part(parameter, position)
        for position, parameter in enumerate(op.parameters)
        if parameter.type != "Generator"
    ]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _key_part(parameter: Parameter, position: int) -> str:
    name = parameter.name
    if parameter.is_tensor:
        return _tensor_key_part(parameter)
    if parameter.is_scalar:
        if parameter.default is REQUIRED:
            return f"type({name})"
        return f"({name} is not _d{position}) and type({name})"
    if parameter.is_real:
        return f"({name} or str({name}))"  # as keys, 0.0 and -0.0 are the same
    if parameter.length is not None and not parameter.varargs:
        return f"(tuple({name}) if type({name}) is list else {name})"
    return name


def _tensor_key_part(parameter: Parameter) -> str:
    name = parameter.name
    if parameter.length is not None:
        present = f"tuple([None if t is None else t._layout for t in {name}])"
    elif parameter.type == "Tensor|Scalar":
        present = f"({name}._layout if isinstance({name}, _Tensor) else type({name}))"
    else:
        present = f"{name}._layout"
    return f"(None if {name} is None else {present})" if parameter.optional else present


def _source(op: Op, name: str, parameters: str, body: list[str], **names: Any) -> tuple[str, dict[str, Any]]:
    starred = [parameter.name for parameter in op.parameters if parameter.varargs]
    body = [*(f"{star} = () if {star} is _absent else ({star}, *_more)" for star in starred), *body]
    source = f"def {name}({parameters}):\n" + "".join(f"    {line}\n" for line in body)
    namespace: dict[str, Any] = {"_op": op, "_Tensor": TensorMethods, "_absent": REQUIRED, **names}
    for position, parameter in enumerate(op.parameters):
        namespace[f"_d{position}"] = parameter.default
    return source, namespace


def _deferred(op: Op, name: str, make: Callable[[], tuple[str, dict[str, Any]]]) -> Callable[..., Any]:
    function = deferred_function(name, make)
    function.__doc__ = op.body.__doc__
    function.__module__ = op.namespace
    return function


def install(module: ModuleType, namespace: str) -> list[str]:
    """Put the functions of a namespace into a module; their names are returned."""
    functions = FUNCTIONS.get(namespace, {})
    for name, function in functions.items():
        setattr(module, name, function)
    return sorted(functions)
