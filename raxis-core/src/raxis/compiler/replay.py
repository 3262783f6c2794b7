"""Replays: what a later call does instead of running the function, written as straight-line code.

For ``lambda x, w: x @ w`` with `w` from outside the code is, but for names::

    def replay(x0):
        if x0._edge is not None or x0._inference: return _miss
        if _tensor1._storage is not _storage2 or _tensor1._edge is not None: return _miss
        b0 = _allocate3()
        _execute(x0._storage.buffer, x0._offset, _storage2.buffer, 0, b0, 0)
        s0 = _over(b0, 256, _place)
        return _wrap(s0, 0, _layout4)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raxis.autograd.grad_mode import mode
from raxis.autograd.inplace import edge_from_base
from raxis.compiler.artifact import Artifact
from raxis.compiler.differentiable import Backward, CompiledNode, link_halves
from raxis.compiler.memory import Argument, Gradient, Held, Memory
from raxis.compiler.numbers import Invocation, Source
from raxis.compiler.outcome import Outcome, Repeated, Shown, ShownView
from raxis.compiler.watching import options_of_optimizer
from raxis.interception import anyone
from raxis.ops.source import compile_function
from raxis.storage import Storage
from raxis.tensor import Tensor, view_of, wrap
from raxis.utils._pytree import LEAF, tree_unflatten

if TYPE_CHECKING:
    from collections.abc import Callable

    from raxis.compiler.guards import Guards
    from raxis.compiler.recording import Recording

MISS = object()
"""What a replay returns when one of its guards does not hold."""


class Replay:
    """One recorded run, ready to be repeated.

    Attributes:
        guards: what must hold outside of the arguments.
        artifact: the program, and the executable.
        backward: the backward half, if results require grad.
        uses_default_device: whether the program depends on the default device.
        run: takes the leaves of a call's arguments; returns what the function would, or `MISS`.
    """

    def __init__(
        self, recording: Recording, outcome: Outcome, artifact: Artifact | None, guards: Guards
    ) -> None:
        assert recording.real is not None  # a recording without a place has nothing to repeat
        self.guards = guards
        self.outcome = outcome
        self.uses_default_device = recording.uses_default_device
        self.backward: Backward | None = None
        if artifact is None:
            assert outcome.derived is not None  # only the two halves are compiled here
            halves = link_halves(recording.name, recording.calls, outcome.memories, outcome.derived)
            artifact = recording.compile(halves.forward)
            backward = recording.compile(halves.backward)
            self.backward = Backward(recording.name, outcome.derived, backward, recording.real)
        self.artifact = artifact
        self.run: Callable[..., Any] = recording.checks.raising(_Writer(self, recording).function())


class _Seen:
    """When what changes seldom was looked at last."""

    def __init__(self, guards: Guards) -> None:
        self._guards = guards
        self.changes = -1

    def differs(self) -> bool:
        """Look at it now."""
        changes = anyone.changes
        if self._guards.change() is not None:
            return True
        self.changes = changes
        return False


class _Writer:
    """Writes the code of one replay."""

    def __init__(self, replay: Replay, recording: Recording) -> None:
        assert recording.real is not None  # as above
        self._replay = replay
        self._name = recording.name
        self._leaves = recording.leaves_of_call
        self._movable = recording.movable()
        self._draws = {generator: blocks for generator, (_, blocks) in recording.draws.items()}
        self._place = recording.real
        self._names: dict[str, Any] = {
            "_miss": MISS,
            "_execute": replay.artifact.execute,
            "_over": Storage.over,
            "_wrap": wrap,
            "_place": self._place,
            "_mode": mode,
            "_anyone": anyone,
        }
        self._bound: dict[int, str] = {}
        self._lines: list[str] = []
        self._storages: dict[Memory, str] = {}

    def function(self) -> Callable[..., Any]:
        """The finished function."""
        self._check()
        self._number()
        self._execute()
        self._count_writes()
        self._leave()
        parameters = ", ".join(f"x{at}" for at in range(len(self._leaves)))
        source = f"def replay({parameters}):\n" + "".join(f"    {line}\n" for line in self._lines)
        made: Callable[..., Any] = compile_function(
            source, "replay", f"<raxis replay {self._name}>", self._names
        )
        return made

    def _bind(self, prefix: str, thing: object) -> str:
        """The name of an object in the code."""
        known = self._bound.get(id(thing))
        if known is None:
            known = self._bound[id(thing)] = f"_{prefix}{len(self._names)}"
            self._names[known] = thing
        return known

    # ---- guards ------------------------------------------------------------------------------------

    def _check(self) -> None:
        guards = self._replay.guards
        conditions = [f"_mode.inference is not {mode.inference}"]
        for at, leaf in enumerate(self._leaves):
            if isinstance(leaf, Tensor):
                absent = "is not" if leaf._edge is None else "is"
                conditions.append(f"x{at}._edge {absent} None or x{at}._inference is not {leaf._inference}")
        conditions += [f"x{at} is not {self._bind('tensor', tensor)}" for at, tensor in guards.same]
        for tensor, storage, layout, requires_grad in guards.tensors:
            name = self._bind("tensor", tensor)
            absent = "is" if requires_grad else "is not"
            conditions.append(f"{name}._storage is not {self._bind('storage', storage)}")
            conditions.append(f"{name}._layout is not {self._bind('layout', layout)}")
            conditions.append(f"{name}._edge {absent} None")
        for leaf, shown in guards.gradients:
            name = self._named(leaf)
            if shown is None:
                conditions.append(f"{name}._grad is not None")
            else:
                conditions.append(
                    f"{name}._grad is None or {name}._grad._layout is not {self._bind('layout', shown)}"
                )
        conditions += self._aliases()
        for module, training, _ in guards.modules:
            conditions.append(f"{self._bind('module', module)}.training is not {training}")
        for optimizer, options in guards.optimizers:
            found = f"{self._bind('options', options_of_optimizer)}({self._bind('optimizer', optimizer)})"
            conditions.append(f"{found} != {self._bind('known', options)}")
        if guards.modules or guards.hooks:
            seen, changed = self._bind("seen", _Seen(guards)), "_anyone.changes"
            conditions.append(f"{changed} != {seen}.changes and {seen}.differs()")
        self._lines += [f"if {condition}: return _miss" for condition in conditions]

    def _aliases(self) -> list[str]:
        """Conditions under which the tensors among the arguments share memory in another way than recorded."""
        tensors = {self._expression(source): tensor for source, tensor, _ in self._movable}
        fixed = {id(tensor._storage) for _, tensor, moves in self._movable if not moves}
        held = {id(guard.storage): guard.storage for guard in self._replay.guards.tensors}
        firsts: dict[int, str] = {}
        conditions = []
        for name, tensor in tensors.items():
            first = firsts.setdefault(id(tensor._storage), name)
            if first != name:
                conditions.append(f"{name}._storage is not {first}._storage")
        again = {id(tensor._storage) for name, tensor in tensors.items() if name not in firsts.values()}
        for name, tensor in tensors.items():
            if id(tensor._storage) in held:
                conditions.append(f"{name}._storage is not {self._bind('storage', tensor._storage)}")
            if id(tensor._storage) in {*again, *held, *fixed}:
                conditions.append(f"{name}._offset != {tensor._offset}")
                conditions.append(f"{name}._storage.nbytes != {tensor._storage.nbytes}")
        apart = [f"{name}._storage" for storage, name in firsts.items() if storage not in held]
        if len(apart) > 1:
            conditions.append(f"len({{{', '.join(apart)}}}) < {len(apart)}")
        if apart and held:
            known = self._bind("held", frozenset(held.values()))
            conditions.append(f"not {known}.isdisjoint(({', '.join(apart)},))")
        return conditions

    def _named(self, tensor: Tensor | Argument) -> str:
        return f"x{tensor.position}" if isinstance(tensor, Argument) else self._bind("tensor", tensor)

    # ---- numbers -----------------------------------------------------------------------------------

    def _number(self) -> None:
        """Draw random counters, and make the call that numbers are read from."""
        for number, (generator, blocks) in enumerate(self._draws.items()):
            self._lines.append(
                f"k{number}, o{number} = {self._bind('generator', generator)}._reserve({blocks})"
            )
        given = self._replay.artifact.linked.inputs
        if self._replay.backward is not None or any(
            self._reads(item) for item in (*given, *self._replay.outcome.results)
        ):
            leaves = "".join(f"x{at}, " for at in range(len(self._leaves)))
            draws = ", ".join(
                f"{self._bind('generator', generator)}: (k{number}, o{number})"
                for number, generator in enumerate(self._draws)
            )
            self._lines.append(f"call = {self._bind('call', Invocation)}(({leaves}), {{{draws}}})")

    @staticmethod
    def _reads(item: Any) -> bool:
        return isinstance(item, Source) and not _is_draw(item)

    def _number_source(self, source: Source) -> str:
        if _is_draw(source):
            key: Any = source.key
            number = list(self._draws).index(key[0])
            return f"{'k' if key[1] == 'key' else 'o'}{number}"
        return f"{self._bind('read', source.read)}(call)"

    # ---- the program -------------------------------------------------------------------------------

    def _execute(self) -> None:
        linked = self._replay.artifact.linked
        passed = [
            self._number_source(item) if isinstance(item, Source) else self._given(item[0])
            for item in linked.inputs
        ]
        if self._replay.artifact.weights is not None:
            passed.append(f"*{self._bind('weights', self._replay.artifact.weights)}()")
        for memory, region in linked.outputs:
            passed.append(self._given(memory) if memory.is_outside else self._fresh(memory, region.offset))
        self._lines.append(f"_execute({', '.join(passed)})")
        for memory, name in self._storages.items():
            self._lines.append(f"s{name} = _over(b{name}, {memory.nbytes}, _place)")

    def _fresh(self, memory: Memory, offset: int) -> str:
        name = self._storages[memory] = str(len(self._storages))
        allocate = self._bind("allocate", self._place.backend.allocator(memory.nbytes, self._place.index))
        self._lines.append(f"b{name} = {allocate}()")
        return f"b{name}, {offset}"

    def _expression(self, source: Argument | Gradient) -> str:
        return f"x{source.position}" if isinstance(source, Argument) else f"{self._named(source.leaf)}._grad"

    def _tensor(self, source: Any) -> str | None:
        """The tensor of a call that a source names; None for sources that are no tensors."""
        return self._expression(source) if isinstance(source, (Argument, Gradient)) else None

    def _storage(self, memory: Memory) -> str | None:
        """The storage that shows a parameter's memory; None if no tensor does."""
        if isinstance(memory.source, Held):
            return self._bind("storage", memory.source.storage)
        tensor = self._tensor(memory.source)
        return None if tensor is None else f"{tensor}._storage"

    def _given(self, memory: Memory) -> str:
        """Buffer and offset of a parameter's memory."""
        storage = self._storage(memory)
        buffer = self._bind("buffer", memory.buffer) if storage is None else f"{storage}.buffer"
        return f"{buffer}, {self._start(memory)}"

    def _start(self, memory: Memory) -> str:
        tensor = self._tensor(memory.source)
        if memory.moves and tensor is not None:
            return f"{tensor}._offset"
        return "0" if memory.region is None else str(memory.region.offset)

    # ---- what is left ------------------------------------------------------------------------------

    def _count_writes(self) -> None:
        for memory, _ in self._replay.artifact.linked.outputs:
            storage = self._storage(memory) if memory.is_outside else None
            if storage is not None:
                self._lines.append(f"{storage}.version += 1")

    def _leave(self) -> None:
        outcome = self._replay.outcome
        for number, known in enumerate(outcome.results):
            if not isinstance(known, (Repeated, ShownView)):
                self._lines.append(f"r{number} = {self._made(known)}")
                self._infer(number, known)
        if self._replay.backward is not None:
            self._attach(self._replay.backward)
        for number, known in enumerate(outcome.results):
            if isinstance(known, ShownView):
                self._view(number, known)
                self._infer(number, known)
        for number, known in enumerate(outcome.results):
            if isinstance(known, Repeated):
                self._lines.append(f"r{number} = r{known.position}")
        for leaf, known in outcome.gradients:
            self._lines.append(f"{self._named(leaf)}._grad = {self._made(known)}")
        results = [f"r{number}" for number in range(outcome.structure.num_leaves)]
        self._lines.append(f"return {self._structured(results)}")

    def _infer(self, number: int, known: Any) -> None:
        if isinstance(known, (Shown, ShownView)) and known.inference:
            self._lines.append(f"r{number}._inference = True")

    def _view(self, number: int, known: ShownView) -> None:
        base = f"r{known.base.position}" if isinstance(known.base, Repeated) else self._named(known.base)
        layout, view = self._bind("layout", known.layout), self._bind("view", view_of)
        self._lines.append(f"r{number} = {view}({base}, {layout}, {base}._offset + {known.moved})")
        if known.taped:
            edge = self._bind("edge", edge_from_base)
            self._lines.append(f"r{number}._edge = {edge}(r{number}, r{number}._base)")

    def _attach(self, backward: Backward) -> None:
        buffers = ", ".join(
            f"{self._bind('memory', memory)}: s{name}" for memory, name in self._storages.items()
        )
        node, known = self._bind("node", CompiledNode), self._bind("backward", backward)
        self._lines.append(f"node = {node}({known}, call, {{{buffers}}})")
        for number, position in enumerate(backward.derived.results):
            self._lines.append(f"r{position}._edge = (node, {number})")

    def _made(self, known: Any) -> str:
        if isinstance(known, Argument):
            return f"x{known.position}"
        if isinstance(known, Source):
            return f"{self._bind('read', known.read)}(call)"
        if not isinstance(known, Shown):
            return self._bind("constant", known)
        layout, memory = self._bind("layout", known.layout), known.memory
        if memory in self._storages:
            return f"_wrap(s{self._storages[memory]}, {known.offset}, {layout})"
        moved = known.offset - (0 if memory.region is None else memory.region.offset)
        return f"_wrap({self._storage(memory)}, {self._start(memory)} + {moved}, {layout})"

    def _structured(self, results: list[str]) -> str:
        structure = self._replay.outcome.structure
        if structure is LEAF or structure == LEAF:
            return results[0]
        if structure.type is tuple and all(child == LEAF for child in structure.children):
            return f"({''.join(f'{result}, ' for result in results)})"
        unflatten, spec = self._bind("unflatten", tree_unflatten), self._bind("structure", structure)
        return f"{unflatten}([{', '.join(results)}], {spec})"


def _is_draw(source: Source) -> bool:
    """Whether a number is the key or offset of a random generator."""
    key = source.key
    return isinstance(key, tuple) and len(key) == 2 and key[1] in ("key", "offset")


def given(memory: Memory, call: Invocation) -> tuple[Any, int]:
    """Buffer and offset of a parameter's memory at a call."""
    tensor, storage = _tensor_of(memory, call), storage_of(memory, call)
    buffer = memory.buffer if storage is None else storage.buffer
    if memory.moves and tensor is not None:
        return buffer, tensor._offset
    return buffer, 0 if memory.region is None else memory.region.offset


def storage_of(memory: Memory, call: Invocation) -> Storage | None:
    """The storage that shows a parameter's memory at a call; None if no tensor does."""
    if isinstance(memory.source, Held):
        return memory.source.storage
    tensor = _tensor_of(memory, call)
    return None if tensor is None else tensor._storage


def _tensor_of(memory: Memory, call: Invocation) -> Tensor | None:
    source = memory.source
    if isinstance(source, Argument):
        return call.leaves[source.position]
    if not isinstance(source, Gradient):
        return None
    leaf = call.leaves[source.leaf.position] if isinstance(source.leaf, Argument) else source.leaf
    return leaf._grad
