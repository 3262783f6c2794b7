"""What is watched of modules, optimizers and leaves from outside of a compiled function: all but their tensors."""

from __future__ import annotations

from typing import Any

_PLAIN = (bool, int, float, complex, str, type(None))
_TABLES = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_PARTS = ("_parameters", "_buffers", "_modules")
_READ_ANEW = ("lr", "params")
"""Entries of a group that a compiled step reads at each call."""


def state_of_module(module: Any) -> tuple[Any, ...]:
    """Which parts and hooks a module has, and its attributes that are plain values."""
    fields = module.__dict__
    parts = [(name, id(part)) for store in _PARTS for name, part in fields[store].items()]
    hooks = [key for table in _TABLES for key in fields[table]]
    plain = [(name, repr(value)) for name, value in fields.items() if name != "training" and _is_plain(value)]
    return tuple(parts), tuple(hooks), tuple(plain)


def options_of_optimizer(optimizer: Any) -> tuple[Any, ...]:
    """The options of every group, and which dictionaries the optimizer keeps its state in."""
    options: list[Any] = [id(optimizer.state)]
    for group in optimizer.param_groups:
        options += [id(group), len(group["params"]), type(group["lr"]) if "lr" in group else None]
        options += [
            value if isinstance(value, _PLAIN) else repr(value) if _is_plain(value) else id(value)
            for name, value in group.items()
            if name not in _READ_ANEW
        ]
    return tuple(options)


def hooks_of_leaf(leaf: Any) -> tuple[int, ...]:
    """The hooks that run when a gradient arrives at a leaf."""
    edge = leaf._edge
    hooks = None if edge is None else edge[0].hooks
    if hooks is None:
        return ()
    return (
        *(key for table in hooks.tensors.values() for key in table),
        *hooks.pre,
        *hooks.post,
        *hooks.accumulate,
    )


def _is_plain(value: Any) -> bool:
    return isinstance(value, _PLAIN) or (isinstance(value, (tuple, list)) and all(map(_is_plain, value)))
