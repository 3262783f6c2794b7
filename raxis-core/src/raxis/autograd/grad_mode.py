"""Switches of the tape: no_grad, enable_grad, inference_mode, set_grad_enabled."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from raxis.tensor import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])


class _Mode(threading.local):
    """Per-thread state of the tape."""

    enabled: bool = True
    inference: bool = False


mode = _Mode()


class _Ever:
    """Which rare states any thread was ever in.

    Until then no op asks for its thread's state: reading a thread-local takes as long as reading ten attributes.

    Attributes:
        inferred: inference mode.
        observed: saved-tensor hooks or anomaly mode.
    """

    __slots__ = ("inferred", "observed")

    def __init__(self) -> None:
        self.inferred = self.observed = False


ever = _Ever()


def new_in_mode(tensor: Tensor) -> Tensor:
    """A tensor that was just made: one of inference mode where that is on."""
    if ever.inferred and mode.inference:
        tensor._inference = True
    return tensor


def is_grad_enabled() -> bool:
    """Whether ops on tensors that require grad are being recorded in this thread.

    Example:
        >>> import raxis
        >>> with raxis.no_grad():
        ...     raxis.is_grad_enabled()
        False
    """
    return mode.enabled


def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on in this thread."""
    return mode.inference


class _ModeSwitch:
    """A context manager and decorator that sets the modes and restores them."""

    enabled: bool | None = None
    inference: bool | None = None

    def __init__(self) -> None:
        self._saved: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self._saved.append((mode.enabled, mode.inference))
        self._switch()

    def __exit__(self, *exception: Any) -> None:
        mode.enabled, mode.inference = self._saved.pop()

    def _switch(self) -> None:
        if self.enabled is not None:
            mode.enabled = self.enabled
        if self.inference is not None:
            mode.inference = self.inference

    def clone(self) -> _ModeSwitch:
        """A switch of the same setting for one more use (decorated functions may recurse)."""
        return type(self)()

    def __call__(self, function: Function) -> Function:
        return _decorate(self, function)


def _decorate(switch: _ModeSwitch, function: Function) -> Function:
    if inspect.isgeneratorfunction(function):
        return _decorate_generator(switch, function)

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with switch.clone():
            return function(*args, **kwargs)

    return wrapped  # type: ignore[return-value]


def _decorate_generator(switch: _ModeSwitch, function: Function) -> Function:
    """Each step of the generator runs inside the switch; its caller does not."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        try:
            with switch.clone():
                item = next(generator)
            while True:
                try:
                    sent = yield item
                except GeneratorExit:
                    generator.close()
                    raise
                except BaseException as error:
                    with switch.clone():
                        item = generator.throw(error)
                else:
                    with switch.clone():
                        item = generator.send(sent)
        except StopIteration as stop:
            return stop.value

    return wrapped  # type: ignore[return-value]


class no_grad(_ModeSwitch):
    """Context manager and decorator: ops inside are not recorded.

    Example:
        >>> import raxis
        >>> x = raxis.ones(2, requires_grad=True)
        >>> with raxis.no_grad():
        ...     (x * 2).requires_grad
        False
    """

    enabled = False

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if function is None else cls()(function)

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        super().__init__()


class enable_grad(no_grad):
    """Context manager and decorator: ops inside are recorded, also within `no_grad`."""

    enabled = True


class set_grad_enabled(_ModeSwitch):
    """Set whether ops are recorded: at once, and until the end of the block when used in ``with``.

    Args:
        enabled: whether to record.
    """

    def __init__(self, enabled: bool) -> None:
        super().__init__()
        if not isinstance(enabled, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(enabled).__name__}"
            )
        self.enabled = enabled
        self._before = (mode.enabled, mode.inference)
        mode.enabled = enabled

    def __enter__(self) -> None:
        self._saved.append(self._before)
        self._switch()

    def clone(self) -> _ModeSwitch:
        return _restoring(bool(self.enabled), mode.inference)

    def __call__(self, function: Function) -> Function:
        mode.enabled, mode.inference = self._before
        return super().__call__(function)


class inference_mode(_ModeSwitch):
    """Like `no_grad`, and tensors made inside can never be used by autograd.

    Args:
        mode: False switches it off inside an enclosing inference mode.
    """

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        return cls(True)(mode) if callable(mode) else super().__new__(cls)

    def __init__(self, mode: bool | Callable[..., Any] = True) -> None:
        super().__init__()
        self.inference = bool(mode)
        self.enabled = not mode
        ever.inferred = True

    def clone(self) -> _ModeSwitch:
        return _restoring(bool(self.enabled), bool(self.inference))


def _restoring(enabled: bool, inference: bool) -> _ModeSwitch:
    switch = _ModeSwitch()
    switch.enabled = enabled
    switch.inference = inference
    return switch
