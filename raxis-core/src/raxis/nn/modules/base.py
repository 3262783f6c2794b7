"""The fields every module has, declared once for the mixins that `Module` is made of."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from raxis.nn.modules.hooks import ForwardHook, ForwardPreHook
    from raxis.nn.modules.module import Module
    from raxis.nn.parameter import Parameter
    from raxis.tensor import Tensor


class ModuleFields:
    """What a module stores. Behaviour lives in the mixins, one file a concern."""

    _version: ClassVar[int] = 1

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]
    _forward_hooks: OrderedDict[int, ForwardHook]
    _forward_pre_hooks: OrderedDict[int, ForwardPreHook]
    _backward_hooks: OrderedDict[int, Callable[..., Any]]
    _backward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _state_dict_hooks: OrderedDict[int, Callable[..., Any]]
    _state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _load_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _load_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]

    def __init__(self) -> None:
        # Written to __dict__ directly: __setattr__ looks into these very fields.
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _modules={},
            _non_persistent_buffers_set=set(),
            _forward_hooks=OrderedDict(),
            _forward_pre_hooks=OrderedDict(),
            _backward_hooks=OrderedDict(),
            _backward_pre_hooks=OrderedDict(),
            _state_dict_hooks=OrderedDict(),
            _state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_post_hooks=OrderedDict(),
        )
