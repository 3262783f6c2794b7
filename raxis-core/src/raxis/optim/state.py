"""An optimizer's state as a dictionary without parameters, in PyTorch's layout, and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any

from raxis.tensor import Tensor

if TYPE_CHECKING:
    from raxis.optim.groups import Group

State = defaultdict[Any, dict[str, Any]]


def packed(state: Mapping[Any, Any], groups: list[Group]) -> dict[str, Any]:
    """State and groups with every parameter replaced by its position in the groups, taken together."""
    positions: dict[int, int] = {}
    start = 0
    for group in groups:
        for position, param in enumerate(group["params"], start):
            positions.setdefault(id(param), position)
        start += len(group["params"])
    return {
        "state": {
            positions[id(key)] if isinstance(key, Tensor) else key: value for key, value in state.items()
        },
        "param_groups": [
            {
                **{name: value for name, value in group.items() if name != "params"},
                "params": [positions[id(param)] for param in group["params"]],
            }
            for group in groups
        ],
    }


def unpacked(state_dict: Mapping[str, Any], groups: list[Group]) -> tuple[State, list[Group]]:
    """State and groups of `state_dict` with the parameters of `groups` put in the place of their positions.

    Raises:
        ValueError: the numbers of groups or of parameters differ.
    """
    saved = deepcopy(state_dict["param_groups"])
    _check_sizes(saved, groups)
    positions = chain.from_iterable(group["params"] for group in saved)
    params = list(chain.from_iterable(group["params"] for group in groups))
    by_position = dict(zip(positions, params, strict=True))
    capturable = {
        position: group.get("capturable") or group.get("fused")
        for group in saved
        for position in group["params"]
    }
    state: State = defaultdict(dict)
    for key, value in state_dict["state"].items():
        if key in by_position:
            state[by_position[key]] = _moved(value, by_position[key], bool(capturable[key]))
        else:
            state[key] = value
    return state, [_with_params_of(group, new) for group, new in zip(groups, saved, strict=True)]


def _check_sizes(saved: list[Group], groups: list[Group]) -> None:
    if len(saved) != len(groups):
        raise ValueError(
            f"loaded state dict has a different number of parameter groups: {len(saved)}, but the optimizer has "
            f"{len(groups)}"
        )
    for index, (new, group) in enumerate(zip(saved, groups, strict=True)):
        if len(new["params"]) != len(group["params"]):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: "
                f"group {index} has {len(new['params'])} parameters, expected {len(group['params'])}"
            )


def _with_params_of(group: Group, new: Group) -> Group:
    new["params"] = group["params"]
    if "param_names" in group:
        new.setdefault("param_names", group["param_names"])
    return new


def _moved(value: Any, param: Tensor, step_on_device: bool, key: str | None = None) -> Any:
    """A copy of a state value that fits the parameter: its device and, for floating ones, its dtype."""
    if isinstance(value, Tensor):
        if key == "step" and not step_on_device:
            return value.clone()
        dtype = param.dtype if param.is_floating_point() and key != "step" else value.dtype
        return value.detach().to(param.device, dtype, copy=True)
    if isinstance(value, dict):
        return {name: _moved(part, param, step_on_device, name) for name, part in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(_moved(part, param, step_on_device) for part in value)  # type: ignore[call-arg]
    return value
