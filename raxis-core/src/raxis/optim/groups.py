"""Parameter groups: lists of parameters with the options they are optimised with."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, TypeAlias

from raxis.tensor import Tensor

Group: TypeAlias = "dict[str, Any]"
Parameters: TypeAlias = "Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[Group]"


class _Required:
    """Stands for an option that every group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def as_groups(params: Any) -> list[Group]:
    """The argument `params` of an optimizer as a list of groups.

    Raises:
        TypeError: `params` is a single tensor.
        ValueError: it is empty.
    """
    if isinstance(params, Tensor):
        raise TypeError(
            "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
            f"{type(params).__name__}"
        )
    members = list(params)
    if not members:
        raise ValueError("optimizer got an empty parameter list")
    return members if isinstance(members[0], dict) else [{"params": members}]


def checked_group(group: Group, defaults: Group, existing: list[Group]) -> Group:
    """A complete copy of `group`: parameters as a list, options filled in from `defaults`.

    Raises:
        TypeError: the parameters are not tensors, or have no order.
        ValueError: a parameter is not a leaf or belongs to an existing group, a required option is missing, or only
            some parameters have names.
    """
    if not isinstance(group, dict):
        raise TypeError(f"param_group must be a dict, but got {type(group)}")
    names, params = _split_names(_as_list(group["params"]))
    for param in params:
        _check_parameter(param)
    complete = {**defaults, **group, "params": params}
    if names:
        complete["param_names"] = names
    _check_options(complete)
    _check_against(complete, existing)
    return complete


def _as_list(params: Any) -> list[Any]:
    if isinstance(params, Tensor):
        return [params]
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
            "will change between runs. Please use a list instead."
        )
    return list(params)


def _split_names(members: list[Any]) -> tuple[list[str], list[Any]]:
    names = [member[0] for member in members if isinstance(member, tuple)]
    if names and len(names) != len(members):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    return names, [member[1] if isinstance(member, tuple) else member for member in members]


def _check_parameter(param: Any) -> None:
    if not isinstance(param, Tensor):
        raise TypeError(
            f"optimizer can only optimize Tensors, but one of the params is {type(param).__module__}."
            f"{type(param).__qualname__}"
        )
    if not (param.is_leaf or param.retains_grad):
        raise ValueError("can't optimize a non-leaf Tensor")


def _check_options(group: Group) -> None:
    for name, value in group.items():
        if value is required:
            raise ValueError(
                f"parameter group didn't specify a value of required optimization parameter {name}"
            )
    if len(group["params"]) != len(set(group["params"])):
        warnings.warn("optimizer contains a parameter group with duplicate parameters", stacklevel=5)


def _check_against(group: Group, existing: list[Group]) -> None:
    for other in existing:
        if ("param_names" in group) != ("param_names" in other):
            given = "with names" if "param_names" in group else "without names"
            raise ValueError(
                "all optimizer param groups should be with/without names. "
                f"cannot add param group {given} to the optimizer"
            )
        if not set(group["params"]).isdisjoint(other["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
