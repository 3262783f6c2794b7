"""Recording: the log of the kernels that a function would have run, in order.

While a recording is active on a thread, its ops go through plans of their own whose executables note themselves
here. Tensors are ordinary tensors: shapes, views, the tape and Python's control flow work as ever; only the
elements are not there yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from raxis.autograd.grad_mode import mode
from raxis.autograd.node import next_number
from raxis.compiler import views
from raxis.compiler.artifact import Artifact
from raxis.compiler.backend import recording_place
from raxis.compiler.checks import Checks
from raxis.compiler.copies import ADVICE, Copies
from raxis.compiler.linking import link
from raxis.compiler.log import Call
from raxis.compiler.memory import (
    HELD_BY_TENSORS,
    Argument,
    Gradient,
    Held,
    Memory,
    RecordedStorage,
    Region,
    Shared,
)
from raxis.compiler.numbers import ArgumentNumber, Source, with_source
from raxis.compiler.settling import settle
from raxis.compiler.watching import options_of_optimizer, state_of_module
from raxis.frames import user_frame
from raxis.interception import active
from raxis.ops import tables
from raxis.placement import real_place
from raxis.tensor import Tensor
from raxis.utils._pytree import tree_map

if TYPE_CHECKING:
    from raxis.autograd.node import Edge
    from raxis.compiler.compiled import Options
    from raxis.compiler.linking import Linked
    from raxis.device import Device
    from raxis.layout import Layout
    from raxis.ops.definitions.verdicts import Failure
    from raxis.random import Generator
    from raxis.storage import Place, Storage


class Recording:
    """What one run of a function did.

    Attributes:
        name: the function's.
        function: what is recorded.
        leaves_of_call: the leaves of the call's arguments.
        options: what `raxis.compile` was told.
        device: what everything runs on; None until the first op.
        calls: the kernels, in order.
        given: memory of real buffers, by the buffer's identity.
        adopted: real storages written while recording.
        tensors: outside tensors that took part, by identity, each with its storage and edge at that time.
        made: tensors made by the function that show memory from outside, by identity.
        positions: the tensors among the arguments by identity, each with its first position.
        arguments: for each of them its storage, layout and edge when the function began.
        leaves: tensors whose ``grad`` was read or replaced, each with the one before.
        gradients: these ``grad`` by identity, each with its leaf.
        first_node: nodes of the tape with this number or a higher one were made by the function.
        modules: modules that were called, each with its training flag and its other state.
        optimizers: optimizers that made a step, each with its options.
        draws: what each random generator gave first, and how many counters in all.
        uses_default_device: whether the default device was asked for.
        tied: whether the value of a number among the arguments was looked at.
        unrepeatable: why a later call must not just repeat the kernels.
        born: memory that was allocated while recording.
        regions: how deep in functions that run on stand-ins, to become regions of control flow.
        copies: of what would be views without a recording.
        checks: of values, which raise errors.
    """

    def __init__(
        self,
        name: str,
        options: Options,
        leaves: Sequence[Any] = (),
        function: Callable[..., Any] | None = None,
    ) -> None:
        self.name = name
        self.options = options
        self.function = function
        self.leaves_of_call = leaves
        self.device: Device | None = None
        self.calls: list[Call] = []
        self.given: dict[int, Memory] = {}
        self.adopted: list[tuple[Storage, Memory]] = []
        self.tensors: dict[int, tuple[Tensor, Storage, Edge | None]] = {}
        self.made: dict[int, Tensor] = {}
        self.positions = {
            id(leaf): at for at, leaf in reversed(list(enumerate(leaves))) if isinstance(leaf, Tensor)
        }
        self.arguments = {at: _state(leaves[at]) for at in self.positions.values()}
        self.leaves: dict[int, tuple[Tensor, Tensor | None]] = {}
        self.gradients: dict[int, Tensor] = {}
        self.modules: dict[int, tuple[Any, bool, Any]] = {}
        self.optimizers: dict[int, tuple[Any, Any]] = {}
        self.draws: dict[Generator, tuple[tuple[int, int], int]] = {}
        self.tied = False
        self.uses_default_device = False
        self.unrepeatable: str | None = None
        self.born: list[Memory] = []
        self.regions = 0
        self.copies = Copies()
        self.checks = Checks()
        self.first_node = next_number()

    # ---- asked by the layers below -----------------------------------------------------------------

    def place(self, place: Place) -> Place:
        """Where tensors live while this is active."""
        return recording_place(place)

    @property
    def real(self) -> Place | None:
        """The place everything runs on; None if nothing ran."""
        return None if self.device is None else real_place(self.device)

    def note(self, tensors: Iterable[Tensor], device: Device) -> None:
        """Tensors an op is about to read; a second device ends the recording."""
        if self.device is None:
            self.device = device
        elif device is not self.device:
            self._interrupt_for_device(f"a second device, {device}, was used beside {self.device}")
            return
        for tensor in tensors:
            storage = tensor._storage
            if not isinstance(storage, RecordedStorage) or isinstance(storage.buffer.source, HELD_BY_TENSORS):
                self._note_outside(tensor)

    def note_transfer(self, source: Device, target: Device) -> None:
        """A tensor is about to be moved to another device."""
        self._interrupt_for_device(f"a tensor was moved from {source} to {target}")

    def _interrupt_for_device(self, reason: str) -> None:
        from raxis.compiler.breaks import interrupt

        advice = (
            "whose program runs on one device. Move tensors there before the call, compile what runs on each device "
            "by itself"
        )
        interrupt(self, reason, advice)

    def _note_outside(self, tensor: Tensor) -> None:
        if not any(id(tensor) in known for known in (self.made, self.positions, self.gradients)):
            self.tensors.setdefault(id(tensor), (tensor, tensor._storage, tensor._edge))
        if not isinstance(tensor._storage, RecordedStorage):
            self._given(tensor)

    def note_made(self, tensor: Tensor) -> None:
        """A tensor that the function made over existing memory."""
        if _is_example(tensor):
            return
        storage = tensor._storage
        if not isinstance(storage, RecordedStorage) or isinstance(storage.buffer.source, HELD_BY_TENSORS):
            self.made[id(tensor)] = tensor

    def note_write(self, tensor: Tensor) -> None:
        """A tensor an op is about to write."""
        if _is_example(tensor):
            return
        storage = tensor._storage
        if not isinstance(storage, RecordedStorage):
            self.note((tensor,), tensor._layout.device)
            memory = self.given[id(storage.buffer)]
            self.adopted.append((storage, memory))
            RecordedStorage.adopt(storage, memory, recording_place(storage.place))

    def shown(self, answer: Any) -> Any:
        """What a question about sizes is answered with."""
        return answer

    def operands(self, arguments: Sequence[Any], op: str | None = None) -> tuple[Any, ...]:
        """Arguments of an op, in which numbers that change from call to call become inputs."""
        return tuple([
            item.as_input()
            if isinstance(item, ArgumentNumber)
            else self.fixed(item)
            if isinstance(item, (tuple, list))
            else item
            for item in arguments
        ])  # fmt: skip

    def fixed(self, arguments: Any) -> Any:
        """Arguments of what needs the values of numbers; later calls with others are recorded anew."""
        return tree_map(lambda item: item.tied() if isinstance(item, ArgumentNumber) else item, arguments)

    def note_host(self, reason: str = "the elements of a tensor were asked for") -> None:
        """The elements of a tensor are about to be read by the host."""
        from raxis.compiler.breaks import interrupt

        interrupt(self, reason)

    def note_check(self, codes: Tensor, failure: Failure) -> None:
        """The program shall raise an error if not all codes are 0."""
        if self.regions or not self.checks.note(codes, failure):
            self.note_host()

    def note_grad(self, leaf: Tensor) -> None:
        """A tensor whose ``grad`` is about to be read or replaced."""
        if _is_example(leaf):
            return
        is_outside = not isinstance(leaf._storage, RecordedStorage) or leaf._storage.buffer.is_outside
        if is_outside and id(leaf) not in self.made:
            _, grad = self.leaves.setdefault(id(leaf), (leaf, leaf._grad))
            if grad is not None:
                self.gradients[id(grad)] = leaf

    def note_module(self, module: Any) -> None:
        """A module that is about to run."""
        if id(module) not in self.modules:
            self.modules[id(module)] = (module, module.training, state_of_module(module))

    def note_optimizer(self, optimizer: Any) -> None:
        """An optimizer that is about to make a step."""
        self.optimizers.setdefault(id(optimizer), (optimizer, options_of_optimizer(optimizer)))

    def draw(self, generator: Generator, blocks: int) -> tuple[Any, Any]:
        """Key and offset of a random op, as numbers that differ from call to call."""
        key, offset = generator._reserve(blocks)
        start, count = self.draws.setdefault(generator, ((key, offset), 0))
        before = offset - start[1]  # less than the count where numbers are drawn again
        self.draws[generator] = (start, max(count, before + blocks))
        if key != start[0] or before < 0:
            self.note_seeded()
        return (
            with_source(key, Source((generator, "key"), lambda call: call.draws[generator][0])),
            with_source(offset, Source((generator, "offset"), lambda call: call.draws[generator][1], before)),
        )

    def note_seeded(self) -> None:
        """A random generator is about to be set to another state."""
        self.unrepeatable = "a random generator was seeded"

    @property
    def is_repeatable(self) -> bool:
        """Whether later calls can do the same."""
        return self.unrepeatable is None and self.device is not None

    # ---- memory ------------------------------------------------------------------------------------

    def artifact(self, memories: Sequence[Memory]) -> Artifact:
        """The compiled program that leaves the contents of `memories`."""
        return self.compile(link(self.name, self.calls, memories), weights_are_fixed=not mode.enabled)

    def compile(self, linked: Linked, *, weights_are_fixed: bool = False) -> Artifact:
        """A linked program, compiled for where the recording ran."""
        if self.real is None:
            raise RuntimeError(f"{self.name} ran no op, so that there is nothing to compile.")
        compiler = self.options.backend or self.real.backend
        return Artifact(linked, compiler, self.real, weights_are_fixed=weights_are_fixed)

    def give_arguments(self) -> None:
        """Tensors among the arguments are parameters, wherever they lie at later calls."""
        for position, leaf in enumerate(self.leaves_of_call):
            if isinstance(leaf, Tensor):
                self._give_argument(position, leaf)

    def _give_argument(self, position: int, tensor: Tensor) -> None:
        known = self.given.get(id(tensor._storage.buffer))
        if known is None:
            self._give(tensor, Argument(position), Region.of(tensor._layout, tensor._offset))
        elif known.region != Region.of(tensor._layout, tensor._offset):
            known.region, known.moves = None, False  # several views of one memory: all of it is the parameter

    def _given(self, tensor: Tensor) -> None:
        if id(tensor._storage.buffer) in self.given:
            return
        leaf = self.gradients.get(id(tensor))
        if leaf is not None:
            self._give(tensor, Gradient(self.named(leaf)), Region.of(tensor._layout, tensor._offset))
            return
        base = (
            tensor if tensor._base is None or tensor._base._storage is not tensor._storage else tensor._base
        )
        self._give(tensor, Held(tensor._storage), Region.of(base._layout, base._offset))

    def _give(self, tensor: Tensor, source: Any, region: Region) -> None:
        storage = tensor._storage
        memory = Memory(storage.nbytes, storage.buffer, source, region)
        memory.moves = not isinstance(source, Held)
        self.given[id(storage.buffer)] = memory

    def memory_of(self, buffer: Any, nbytes: int = 0) -> Memory:
        """The stand-in of a buffer, which may be one already."""
        if isinstance(buffer, Memory):
            return buffer
        found = self.given.get(id(buffer))
        if found is None:
            found = self.given[id(buffer)] = Memory(nbytes, buffer, Shared(buffer))
            self.born.append(found)
        return found

    def movable(self) -> list[tuple[Argument | Gradient, Tensor, bool]]:
        """Arguments and gradients that took part, and whether they may begin elsewhere in their memory at each call."""
        found: list[tuple[Argument | Gradient, Tensor, bool]] = []
        for position, leaf in enumerate(self.leaves_of_call):
            if isinstance(leaf, Tensor):
                found.append((Argument(position), leaf, self._moves(leaf)))
        for leaf, grad in self.leaves.values():
            if grad is not None and id(grad._storage.buffer) in self.given:
                found.append((Gradient(self.named(leaf)), grad, self._moves(grad)))
        return found

    def _moves(self, tensor: Tensor) -> bool:
        memory = self.given.get(id(tensor._storage.buffer))
        return memory is None or memory.moves

    def named(self, tensor: Tensor) -> Tensor | Argument:
        """A tensor from outside, or which argument it is."""
        position = self.positions.get(id(tensor))
        return tensor if position is None else Argument(position)

    @property
    def reads_values(self) -> bool:
        """Whether what needs values may ask for them, and end the recording."""
        return self.options.on_break == "eager" and not self.regions

    def note_copy(self, copy: Tensor, source: Tensor, index: Any) -> None:
        """``source[index]``, which would be a view without a recording, was copied."""
        self.copies.note(self._known(copy), self._known(source), index)

    def note_put_back(self, copy: Tensor, source: Tensor, index: Any) -> None:
        """``source[index] = copy`` is about to run."""
        self.copies.put_back(self._known(copy), self._known(source), index)

    def _known(self, tensor: Tensor) -> Memory | None:
        """The memory of a tensor that took part; None for others."""
        buffer = tensor._storage.buffer
        return buffer if isinstance(buffer, Memory) else self.given.get(id(buffer))

    def check_copies(self, results: Iterable[Any]) -> None:
        """Raise CompileError if results, or what else is left, would differ because of copies; at the end."""
        from raxis.compiler.breaks import refuse

        buffers = (leaf._storage.buffer for leaf in results if isinstance(leaf, Tensor))
        shown = [buffer for buffer in buffers if isinstance(buffer, Memory)]
        reason = self.copies.unreturned or self.copies.outdated(shown)
        if reason is not None:
            refuse(self, reason, ADVICE)

    def add(self, call: Call) -> None:
        """Append a kernel."""
        reason = self.copies.conflict(call)
        if reason is not None:
            from raxis.compiler.breaks import refuse

            refuse(self, reason, ADVICE)
        for item in (*call.operands, *call.results):
            if isinstance(item, tuple):
                self._used(*item)
        for memory, _ in call.results:
            memory.written = True
        self.calls.append(call)

    def _used(self, memory: Memory, region: Region) -> None:
        """What programs take as parameter must have all that is used of it, as elements of one dtype."""
        if memory.dtype is None:
            memory.dtype = region.dtype
        elif memory.dtype is not region.dtype:
            self.unrepeatable = f"the same memory was used as {memory.dtype} and as {region.dtype}"
        if memory.region is not None and not views.contains(memory.region, region):
            memory.region, memory.moves = None, False

    # ---- beginning and end -------------------------------------------------------------------------

    def start(self) -> None:
        """Let this thread's ops be recorded."""
        tables.set_aside()
        active.recording = self

    def stop(self) -> None:
        """Let this thread's ops run again."""
        active.recording = None
        tables.restore()

    def finish(self, artifact: Artifact | None = None) -> None:
        """End the recording, if it has not ended, and compute whatever can still be seen of it; see `settle`."""
        if active.recording is self:
            self.stop()
            with self.checks.raised():
                settle(self, artifact)
            for memory in self.given.values():
                if isinstance(memory.source, HELD_BY_TENSORS):
                    memory.buffer = None  # later calls have their own; it must not outlive its tensors


def _state(tensor: Tensor) -> tuple[Storage, Layout, Edge | None]:
    return tensor._storage, tensor._layout, tensor._edge


def _is_example(tensor: Tensor) -> bool:
    """Whether it is one of many in vmap, whose ops record what they do for all of them."""
    return tensor._layout.device.depth > 0


def user_line() -> str:
    """The user's line that is running, as ``file:line``."""
    frame, _ = user_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
