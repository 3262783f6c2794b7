"""The checks of values that a recorded function makes, which its program makes at every call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

from raxis.errors import IndexOutOfRangeError
from raxis.ops.definitions.verdicts import MOST_CHECKS, Failure, decoded, verdict

if TYPE_CHECKING:
    from raxis.compiler.memory import Memory
    from raxis.tensor import Tensor


class Checks:
    """Those of one recording.

    Attributes:
        failures: what each check raises.
    """

    def __init__(self) -> None:
        self.failures: list[Failure] = []
        self._verdicts: list[Tensor] = []

    def note(self, codes: Tensor, failure: Failure) -> bool:
        """Let the program raise `failure` unless all `codes` are 0; whether there is room for it."""
        if len(self.failures) == MOST_CHECKS:
            return False
        self._verdicts.append(verdict(codes, len(self.failures), failure.code_bits))
        self.failures.append(failure)
        return True

    @property
    def memories(self) -> list[Memory]:
        """What the program must compute so that it checks."""
        return [tensor._storage.buffer for tensor in self._verdicts]

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Raise the errors of checks that fail."""
        try:
            yield
        except IndexOutOfRangeError as error:
            failed = decoded(error, self.failures)
            if failed is None:
                raise
            raise failed from None

    def raising(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """A replay that raises the errors of checks that fail."""
        if not self.failures:
            return run

        @wraps(run)
        def checked(*leaves: Any) -> Any:
            with self.raised():
                return run(*leaves)

        return checked

    def forget_after(self, count: int) -> None:
        """Drop the later ones, whose values nobody asks for any more."""
        del self._verdicts[count:], self.failures[count:]
