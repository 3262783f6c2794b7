"""Compiled functions: one recorded program per signature of the arguments."""

from __future__ import annotations

import functools
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from raxis.autograd import anomaly
from raxis.autograd.grad_mode import ever, mode
from raxis.backends.api import Backend
from raxis.compiler.buckets import Bucket, Buckets, may_hold_rows, note, repeats
from raxis.compiler.guards import guards_of
from raxis.compiler.outcome import outcome_of, with_values
from raxis.compiler.recent import Recent
from raxis.compiler.recording import Recording
from raxis.compiler.replay import MISS, Replay
from raxis.compiler.signature import Arguments, describe, modes
from raxis.frames import user_stacklevel
from raxis.interception import active, anyone, observer
from raxis.logs import listener
from raxis.placement import in_vmap
from raxis.tensor import Tensor
from raxis.utils._pytree import tree_flatten

if TYPE_CHECKING:
    from pathlib import Path

    from raxis.compiler.explain import Explanation
    from raxis.ptir.bisecting import Finding
    from raxis.ptir.bisecting_passes import PassFinding
    from raxis.ptir.passes import Machine
    from raxis.utils._pytree import TreeSpec

MOST_SIGNATURES = 256
"""How many signatures of arguments keep their recordings; those not called for longest go first."""
MOST_RUNS = 4 * MOST_SIGNATURES
"""How many kinds of calls take the short way."""
MOST_MISSES = 1024
"""How many misses are listed."""
MOST_RECORDINGS = 8
"""How often one signature is recorded, because of what changed outside, before its calls run op by op."""


class Options(NamedTuple):
    """What `raxis.compile` was told.

    Attributes:
        static: positions of arguments whose values are part of the signature.
        on_break: "error" or "eager": what to do where the function needs values.
        backend: what compiles and runs the programs; None for the device's own backend.
        dynamic: whether numbers among the arguments are inputs from the first call on, and calls with other numbers
            of rows share programs where that is right.
    """

    static: frozenset[int] = frozenset()
    on_break: str = "error"
    backend: Backend | None = None
    dynamic: bool = False


class Miss(NamedTuple):
    """A call that was recorded instead of repeated.

    Attributes:
        arguments: their dtypes, shapes and values, as text.
        reason: why no earlier recording could be repeated.
        kept: why this recording will not be repeated either; None if it will.
    """

    arguments: str
    reason: str
    kept: str | None


class Compiled:
    """A function that runs as one program per signature of its arguments; made by `raxis.compile`."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        functools.update_wrapper(self, function)
        self.name = getattr(function, "__name__", type(function).__name__)
        self.options = options
        self._function = function
        self._arguments = Arguments(options.static, options.dynamic)
        self._replays: Recent[list[Replay]] = Recent(MOST_SIGNATURES)
        self._runs: dict[Any, Callable[..., Any]] = {}
        self._recordings: Recent[int] = Recent(4 * MOST_SIGNATURES)
        self._dropped: Recent[bool] = Recent(4 * MOST_SIGNATURES)
        self._misses: deque[Miss] = deque(maxlen=MOST_MISSES)
        self._buckets = Buckets(self.name, options, function, self._arguments) if options.dynamic else None
        self._lock = threading.RLock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # The short way: tensors only, nobody records or overrides. Whatever this key leaves out, the code of the run
        # looks at.
        if not kwargs and not anyone.records and not anyone.overrides and not ever.observed:
            try:
                run = self._runs[(anyone.generation, mode.enabled, *[arg._layout for arg in args])]
            except (KeyError, AttributeError):
                pass
            else:
                result = run(*args)
                if result is not MISS:
                    return result
        return self._call(args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if active.recording is not None or in_vmap() or (ever.observed and anomaly.state.enabled):
            return self._function(*args, **kwargs)  # anomaly mode looks at every op
        leaves, structure = self._arguments.flatten(args, kwargs)
        signature = self._signature(leaves, structure)
        result, replay = self._repeated(signature, leaves)
        if replay is not None:
            if not replay.uses_default_device:
                self._remember(replay.run, args, kwargs)
            return result
        with self._lock:
            bucket = None if self._buckets is None else self._buckets.find(leaves, structure)
            if bucket is not None:
                run = partial(self._run_wide, bucket, structure)
                result = run(*leaves)
                if result is not MISS:
                    self._remember(run, args, kwargs)
                    return result
            return self._observed_miss(signature, leaves, self._reason(signature), args, kwargs)

    def _signature(self, leaves: list[Any], structure: TreeSpec) -> tuple[Any, ...]:
        return structure, self._arguments.describe(leaves), modes()

    def _repeated(self, signature: Any, leaves: list[Any]) -> tuple[Any, Replay | None]:
        """What a recording of the signature gives, and which; `MISS` and None if none can be repeated."""
        for replay in self._replays.get(signature) or ():
            result = self._repeat(replay, leaves)
            if result is not MISS:
                return result, replay
        return MISS, None

    def _reason(self, signature: Any) -> str:
        """Why no recording of the signature can be repeated."""
        reason = "this is the first call with such arguments"
        if self._dropped.get(signature):
            reason = f"only the last {MOST_SIGNATURES} kinds of arguments keep their recordings"
        for replay in self._replays.get(signature) or ():
            reason = replay.guards.failure() or "something changed outside of the function"
            self._log("guards", "%s: a recording is not repeated, since %s", self.name, reason)
        if self._buckets is not None and self._buckets.refused is not None:
            reason += f"; {note(self._buckets.refused)}"
        return reason

    def _observed_miss(self, signature: Any, leaves: list[Any], reason: str, args: Any, kwargs: Any) -> Any:
        observing = observer()
        if observing is None:
            return self._miss(signature, leaves, reason, args, kwargs)
        missed = partial(self._miss, signature, leaves, reason)
        return observing.run(f"compile {self.name}", "compile", missed, (args, kwargs))

    def _run_wide(self, bucket: Bucket, structure: TreeSpec, *leaves: Any) -> Any:
        """A call as one with more rows; `MISS` if it is not known any more that this is right."""
        tensors = [leaves[at] for at in bucket.batched]
        if modes() != bucket.modes or not all(map(may_hold_rows, tensors)) or repeats(leaves):
            return MISS
        rows = tensors[0]._layout.shape[0]
        wide = bucket.widened(leaves)
        signature = self._signature(wide, structure)
        result, _ = self._repeated(signature, wide)
        if result is MISS:
            if bucket.verdict.guards.failure() is not None:
                return MISS
            args, kwargs = self._arguments.unflatten(wide, structure)
            reason = f"this is the first call with {bucket.limit // 2 + 1} to {bucket.limit} rows"
            with self._lock:
                result = self._observed_miss(signature, wide, reason, args, kwargs)
        return bucket.narrowed(result, rows)

    def _repeat(self, replay: Replay, leaves: list[Any]) -> Any:
        observing = observer()
        if observing is None:
            return replay.run(*leaves)
        return observing.run(f"compiled {self.name}", "compiled", replay.run, leaves, void=MISS)

    def _remember(self, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Let calls like this one take the short way."""
        if not kwargs and all(isinstance(arg, Tensor) for arg in args):
            if len(self._runs) >= MOST_RUNS:
                self._runs.clear()
            self._runs[(anyone.generation, mode.enabled, *[arg._layout for arg in args])] = run

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> str | tuple[Any, ...]:
        # As functions: by name if there is one; else a copy of the function, with nothing recorded yet.
        found = sys.modules.get(getattr(self, "__module__", None) or "")
        name = getattr(self, "__qualname__", "")
        if getattr(found, name, None) is self:
            return name
        return Compiled, (self._function, self.options)

    def misses(self) -> list[Miss]:
        """The calls that could not repeat an earlier one, in order.

        Example:
            >>> import raxis
            >>> double = raxis.compile(lambda x: x * 2)
            >>> _ = double(raxis.ones(2)), double(raxis.zeros(2)), double(raxis.ones(3))
            >>> [miss.arguments for miss in double.misses()]
            ['float32[2]', 'float32[3]']
        """
        return list(self._misses)

    def replays(self) -> list[Replay]:
        """The recordings that calls can repeat."""
        return [replay for replays in self._replays.values() for replay in replays]

    def replays_by_signature(self) -> list[tuple[Any, Replay]]:
        """The recordings that calls can repeat, each with the signature it is for."""
        return [(key, replay) for key, replays in self._replays.items() for replay in replays]

    def rows(self) -> tuple[str, ...]:
        """With ``dynamic=True``, sentences on whether calls with other numbers of rows share programs, and why not.

        Example:
            >>> import raxis
            >>> double = raxis.compile(lambda x: x * 2, dynamic=True)
            >>> _ = [double(raxis.ones(rows)) for rows in (5, 6, 7)]
            >>> double.rows()
            ('numbers of rows are rounded up to powers of two, since rows are kept apart',)
        """
        return () if self._buckets is None else tuple(self._buckets.notes())

    def explain(self, *, kernels: bool = False, machine: Machine | None = None) -> Explanation:
        """What was made of the function so far; ``print(compiled.explain())`` shows all of it.

        For each recording: its signature and guards, the program after the passes, what they did, the kernels, the plan
        of memory, the cost, the weights that are computed once.

        Args:
            kernels: include the kernels' sources in the device's language.
            machine: the limits that costs are compared with; by default they are measured, once per process.

        Example:
            >>> import raxis
            >>> double = raxis.compile(lambda x: x * 2)
            >>> _ = double(raxis.ones(3))
            >>> (recording,) = double.explain().recordings
            >>> recording.signature, recording.programs[0].cost.kernels
            ('float32[3]', 1)
        """
        from raxis.compiler.explain import explain

        return explain(self, kernels=kernels, machine=machine)

    def bisect(
        self,
        *args: Any,
        rtol: float | None = None,
        atol: float | None = None,
        folder: str | Path | None = None,
        **kwargs: Any,
    ) -> Finding | PassFinding | None:
        """The first pass or instruction that gives other values than the reference backend; None if none does.

        The function is recorded anew: the call is made, with all its effects, twice if the first leaves new tensors
        behind, as an optimizer's first step does. Then its programs run on the device and
        on the reference with the values that arguments and outside tensors have now; see `raxis.ptir.bisect`.

        Args:
            args: arguments of the call.
            rtol: relative tolerance of floats; default: `raxis.ptir.comparing.RTOL`.
            atol: absolute tolerance; default: `rtol` times the greatest magnitude among result and operands.
            folder: where the reproducer is saved; default: a new folder among the system's temporary ones.
            kwargs: further arguments of the call.

        Raises:
            RuntimeError: if calls cannot be repeated, so that there is no program.

        Example:
            >>> import raxis
            >>> print(raxis.compile(lambda x: x.exp().sum()).bisect(raxis.ones(3)))
            None
        """
        from raxis.compiler.bisection import Limits, bisect_compiled

        return bisect_compiled(self, args, kwargs, Limits(rtol, atol, folder))

    @property
    def function(self) -> Callable[..., Any]:
        """The function as it was given."""
        return self._function

    # ---- recording ---------------------------------------------------------------------------------

    def _miss(self, signature: Any, leaves: list[Any], reason: str, args: Any, kwargs: Any) -> Any:
        count = (self._recordings.get(signature) or 0) + 1
        self._recordings.put(signature, count)
        if count > MOST_RECORDINGS:
            if count == MOST_RECORDINGS + 1:
                self._warn(reason)
            return self._function(*args, **kwargs)
        leaves = self._arguments.with_changing_numbers(signature, leaves)
        given = [self._arguments.plain(leaf) for leaf in leaves]
        recording = Recording(self.name, self.options, given, self._function)
        result, replay = self._record(recording, signature[0], leaves)
        if self._buckets is not None:
            self._buckets.note(given, signature[0], recording, replay)
        if replay is not None:
            values = recording.leaves_of_call
            if recording.tied:
                self._arguments.tie(leaves)
            key = (signature[0], self._arguments.describe(values), modes())
            self._keep(key, replay)
        miss = Miss(describe(recording.leaves_of_call), reason, recording.unrepeatable)
        self._misses.append(miss)
        kept = "kept" if miss.kept is None else f"not kept, since {miss.kept}"
        self._log("compile", "%s(%s) was recorded, since %s; %s", self.name, miss.arguments, reason, kept)
        return result

    @staticmethod
    def _log(topic: str, message: str, *details: str) -> None:
        log = listener(topic)
        if log is not None:
            log.info(message, *details)

    def _keep(self, key: Any, replay: Replay) -> None:
        known = self._replays.get(key)
        if known is not None:
            known.append(replay)
            return
        dropped = self._replays.put(key, [replay])
        if dropped is not None:
            self._dropped.put(dropped, True)
            self._runs.clear()  # so that the signatures that are called still come by, and are known to be

    def _record(
        self, recording: Recording, structure: Any, leaves: Sequence[Any]
    ) -> tuple[Any, Replay | None]:
        recording.start()
        artifact = outcome = None
        try:
            recording.give_arguments()
            args, kwargs = self._arguments.unflatten(leaves, structure)
            result = self._function(*args, **kwargs)
            if active.recording is recording:
                recording.check_copies(tree_flatten(result)[0])
            if active.recording is recording:
                outcome = outcome_of(recording, result)
            if outcome is not None and outcome.derived is None and recording.is_repeatable:
                artifact = recording.artifact(outcome.memories)
        finally:
            recording.finish(artifact)
        result = with_values(result)
        if outcome is None or not recording.is_repeatable:
            return result, None
        return result, Replay(recording, outcome, artifact, guards_of(recording))

    def _warn(self, reason: str) -> None:
        warnings.warn(
            f"{self.name} was recorded {MOST_RECORDINGS} times for the same arguments, the last time because "
            f"{reason}. Such calls run op by op from now on; misses() lists the reasons.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
