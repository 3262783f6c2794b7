"""Updates: formulas for the new values of several tensors, run as one program that overwrites them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from raxis.autograd.grad_mode import mode
from raxis.autograd.inplace import check_inplace
from raxis.interception import active
from raxis.layout import Strides
from raxis.ops.destination import check_destination, reach_overlaps, separate
from raxis.ops.formulas import wide, wide_dtype
from raxis.ops.plan import device_of_all
from raxis.ops.source import compile_function
from raxis.ops.trace import Tracer, cast, tracing
from raxis.placement import place_of
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from raxis.compiler.recording import Recording

Formula = Callable[..., Sequence[Tensor]]

_LIMIT = 4096
"""Compiled updates kept of one formula; beyond it the table starts anew."""


_STATE_STAYS = (
    " The state of an optimizer does not follow parameters that move: make the optimizer after moving the model, or "
    "call optimizer.load_state_dict(optimizer.state_dict()), which moves the state."
)


class Update:
    """A formula for new values of tensors of one shape; a call compiles it for their layouts, or finds it compiled.

    Args:
        name: what the program is called.
        formula: is given the tensors to overwrite, the tensors to read, the numbers (as 0-d tensors), each in a list,
            and the options. It returns the new values, in ops. It is run once for every combination of layouts and
            options. Half precision arrives in float32, so that a chain of ops rounds once at its end.

    Example:
        >>> import raxis
        >>> descend = Update("descend", lambda written, read, numbers, options: [written[0] - read[0] * numbers[0]])
        >>> weight, grad = raxis.ones(2), raxis.tensor([1.0, 2.0])
        >>> descend([weight], [grad], [0.25])
        >>> weight
        tensor([0.7500, 0.5000])
    """

    def __init__(self, name: str, formula: Formula) -> None:
        self._name = name
        self._formula = formula
        self._runs: dict[Any, Callable[..., None]] = {}
        self._recorded_runs: dict[Any, Callable[..., None]] = {}

    def __call__(
        self,
        written: Sequence[Tensor],
        read: Sequence[Tensor],
        numbers: Sequence[Any] = (),
        *,
        options: Hashable = None,
    ) -> None:
        """Overwrite the tensors `written`.

        Args:
            written: what the formula gives new values of; they must not share memory.
            read: what else it needs, of any shape; copied where it overlaps what is written.
            numbers: Python numbers, or tensors of one element.
            options: distinguishes what the formula does; compared by value.

        Raises:
            RuntimeError: if a tensor must not be written in place, two of them share memory, or they live on
                different devices.
        """
        runs = self._runs
        if active.recording is not None:
            numbers, runs = self._noted(active.recording, written, read, numbers), self._recorded_runs
        layouts = [tensor._layout for tensor in (*written, *read)]
        kinds = [value._layout for value in numbers if isinstance(value, Tensor)]
        key = (options, len(written), *layouts, *map(type, numbers), *kinds)
        run = runs.get(key)
        if run is None:
            run = self._make(written, read, numbers, options)
            if len(runs) >= _LIMIT:
                runs.clear()
            runs[key] = run
        run(*written, *read, *numbers)

    @staticmethod
    def _noted(
        recording: Recording, written: Sequence[Tensor], read: Sequence[Tensor], numbers: Sequence[Any]
    ) -> Sequence[Any]:
        """Tell the thread's recording; the numbers as it wants them."""
        tensors = [value for value in (*written, *read, *numbers) if isinstance(value, Tensor)]
        recording.note(tensors, written[0].device)
        for target in written:
            recording.note_write(target)
        return recording.operands(numbers)

    def _make(
        self, written: Sequence[Tensor], read: Sequence[Tensor], numbers: Sequence[Any], options: Hashable
    ) -> Callable[..., None]:  # fmt: skip
        """The function of these layouts, over all operands in order."""
        for target in written:
            check_destination(self._name, target)
        tensors_of_numbers = [value for value in numbers if isinstance(value, Tensor)]
        device_of_all(self._name, [*written, *read, *tensors_of_numbers], _STATE_STAYS)
        execute = self._compiled(written, read, numbers, options)
        count = len(written)
        tensors = [isinstance(value, Tensor) for value in (*written, *read, *numbers)]
        slow = _checked(self._name, execute, count)
        return _straight(self._name, tensors, count, _execute=execute, _slow=slow, _mode=mode)

    def _compiled(
        self, written: Sequence[Tensor], read: Sequence[Tensor], numbers: Sequence[Any], options: Hashable
    ) -> Any:  # fmt: skip
        device = written[0]._layout.device
        tracer = Tracer(self._name, device)
        with tracing(tracer):
            stand_ins = [
                [tracer.parameter(tensor.dtype, tensor._layout.shape) for tensor in part]
                for part in (written, read)
            ]
            values = [_number(tracer, value, wide_dtype(written[0].dtype)) for value in numbers]
            found = self._formula(*([wide(item) for item in part] for part in stand_ins), values, options)
            results = [cast(new, target.dtype) for new, target in zip(found, written, strict=True)]
        program = tracer.builder.build([result._value for result in results])  # type: ignore[attr-defined]
        inputs: list[Strides | None] = [
            value._layout.strides if isinstance(value, Tensor) else None
            for value in (*written, *read, *numbers)
        ]
        outputs = [target._layout.strides for target in written]
        return place_of(device).backend.compile(program, inputs, outputs, in_place=len(written))


def _number(tracer: Tracer, value: Any, dtype: Any) -> Tensor:
    """The stand-in of a number, as a 0-d tensor of the dtype to compute in."""
    if isinstance(value, Tensor):
        return cast(tracer.parameter(value.dtype, value._layout.shape).reshape(()), dtype)
    return tracer.parameter(dtype, (), by_value=True)


def _straight(name: str, tensors: Sequence[bool], written: int, **names: Any) -> Callable[..., None]:
    """Straight-line code of a call; what must be checked or copied is left to ``_slow``."""
    operands = [f"x{place}" for place in range(len(tensors))]
    places = [f"x{place}" for place, is_tensor in enumerate(tensors) if is_tensor]
    targets = places[:written]
    lines = [f"s_{place} = {place}._storage" for place in places]
    reasons = ["_mode.enabled", *(f"s_{target}.read_only or {target}._inference" for target in targets)]
    reasons += [f"s_{one} is s_{other}" for one, other in combinations(places, 2) if one in targets]
    lines += [f"if {' or '.join(reasons)}:", f"    return _slow(({', '.join(operands)},))"]
    passed = [
        f"s_{operand}.buffer, {operand}._offset" if operand in places else operand
        for operand in (*operands, *targets)
    ]
    lines.append(f"_execute({', '.join(passed)})")
    lines += [f"s_{target}.version += 1" for target in targets]
    source = f"def {name}_update({', '.join(operands)}):\n" + "".join(f"    {line}\n" for line in lines)
    made: Callable[..., None] = compile_function(source, f"{name}_update", f"<raxis update {name}>", names)
    return made


def _checked(name: str, execute: Any, written: int) -> Callable[[Sequence[Any]], None]:
    """The same call for operands that must be checked first or share memory."""

    def run(operands: Sequence[Any]) -> None:
        targets = operands[:written]
        for target in targets:
            check_inplace(name, target)
        _require_apart(name, targets)
        others = operands[written:]
        for target in targets:
            others = [separate(target, operand) for operand in others]
        passed: list[Any] = []
        for operand in (*targets, *others, *targets):
            is_tensor = isinstance(operand, Tensor)
            passed += [operand._storage.buffer, operand._offset] if is_tensor else [operand]
        execute(*passed)
        for target in targets:
            target._storage.version += 1

    return run


def _require_apart(name: str, targets: Sequence[Tensor]) -> None:
    for one, other in combinations(targets, 2):
        if one._storage is other._storage and reach_overlaps(one, other):
            raise RuntimeError(
                f"{name}: two of the tensors to be written share memory, so that their new values cannot both be kept. "
                "Clone one of them first."
            )
