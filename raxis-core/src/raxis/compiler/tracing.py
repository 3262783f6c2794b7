"""Functions given to control flow, recorded on stand-ins for their operands."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from raxis.compiler import views
from raxis.compiler.backend import recording_place
from raxis.compiler.breaks import RegionError
from raxis.compiler.excursion import Excursion
from raxis.compiler.linking import Linked, Linker, fills
from raxis.compiler.memory import Memory, Operand, RecordedStorage, Region
from raxis.compiler.numbers import InputFloat, InputInt, plain, with_source
from raxis.compiler.recording import Recording, user_line
from raxis.layout import Layout, contiguous_strides, layout_of
from raxis.tensor import Tensor, wrap
from raxis.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

if TYPE_CHECKING:
    from raxis.compiler.log import Call
    from raxis.random import Generator


class Traced(NamedTuple):
    """What a function does.

    Attributes:
        linked: its program; parameters are the stand-ins, memory from outside, and numbers.
        stand_ins: the memory of the stand-ins, each with its position among the tensors of the operands.
        results: the leaves of what it returns: layouts of tensors, other things as they are.
        structure: the containers around them.
        requires_grad: whether a result does.
        draws: how many random counters it takes of each generator.
        numbers: the numbers it takes from outside, by their source's key.
    """

    linked: Linked
    stand_ins: Mapping[Memory, int]
    results: Sequence[Any]
    structure: TreeSpec
    requires_grad: bool
    draws: Mapping[Generator, int]
    numbers: Mapping[Any, Any]


def trace(recording: Recording, function: Callable[..., Any], operands: tuple[Any, ...]) -> Traced:
    """What `function` does with tensors like those among `operands`.

    Raises:
        RegionError: if it cannot become a part of a program.
    """
    line = user_line()
    leaves, structure = tree_flatten(operands)
    stand_ins = _stand_in_memory(leaves)
    excursion = Excursion(recording)
    with excursion:
        shown, results, result_structure, requires_grad = _run(
            recording, function, leaves, structure, stand_ins
        )
    _check(excursion, stand_ins, line)
    excursion.note_used()
    return Traced(
        _linked(recording.name, excursion, shown),
        {memory: position for position, memory in enumerate(stand_ins)},
        results,
        result_structure,
        requires_grad,
        excursion.draws,
        {number.source.key: number for number in _numbers(excursion.calls)},
    )


def _dense(layout: Layout) -> Layout:
    return layout_of(layout.dtype, layout.shape, contiguous_strides(layout.shape), layout.device)


def _stand_in_memory(leaves: Iterable[Any]) -> list[Memory]:
    layouts = [_dense(leaf._layout) for leaf in leaves if isinstance(leaf, Tensor)]
    return [
        Memory(layout.nbytes, None, Operand(position), Region.of(layout, 0))
        for position, layout in enumerate(layouts)
    ]


def _run(
    recording: Recording,
    function: Callable[..., Any],
    leaves: Sequence[Any],
    structure: TreeSpec,
    stand_ins: Sequence[Memory],
) -> tuple[list[tuple[Memory, Region]], list[Any], TreeSpec, bool]:
    """Call the function; what its results show. Nothing here holds its tensors afterwards."""
    memories = iter(stand_ins)
    arguments = [
        _stand_in(recording, leaf, next(memories)) if isinstance(leaf, Tensor) else leaf for leaf in leaves
    ]
    results, result_structure = tree_flatten(function(*tree_unflatten(arguments, structure)))
    tensors = [leaf for leaf in results if isinstance(leaf, Tensor)]
    if recording.device is not None:
        recording.note(tensors, recording.device)
    shown = [
        (recording.memory_of(tensor._storage.buffer), Region.of(tensor._layout, tensor._offset))
        for tensor in tensors
    ]
    described = [leaf._layout if isinstance(leaf, Tensor) else leaf for leaf in results]
    return shown, described, result_structure, any(tensor._edge is not None for tensor in tensors)


def _stand_in(recording: Recording, leaf: Tensor, memory: Memory) -> Tensor:
    assert recording.real is not None  # the operands were noted before
    storage = RecordedStorage.over(memory, memory.nbytes, recording_place(recording.real))
    tensor = wrap(storage, 0, _dense(leaf._layout))
    return tensor if leaf._edge is None else tensor.requires_grad_()


# ---- what a region must not do -------------------------------------------------------------------------


def _check(excursion: Excursion, stand_ins: Sequence[Memory], line: str) -> None:
    born = set(excursion.born)
    for call in excursion.calls:
        if any(memory not in born or memory.is_outside for memory, _ in call.results):
            raise RegionError(
                call.line,
                "a function given to raxis.cond, while_loop, scan or map writes in place into a tensor from outside",
                "Return the new values instead.",
            )
    if excursion.left_gradients:
        raise RegionError(
            line,
            "a function given to raxis.cond, while_loop, scan or map leaves gradients in tensors",
            "Use raxis.autograd.grad, and return the gradients.",
        )
    if excursion.seeded or not _draws_on(excursion):
        raise RegionError(
            line,
            "random numbers are drawn inside of a function given to raxis.cond, while_loop, scan or map, of a "
            "generator that was seeded in the compiled function",
            "Seed it before the compiled function is called.",
        )
    if _leaked([*excursion.born, *stand_ins]):
        raise RegionError(
            line,
            "a function given to raxis.cond, while_loop, scan or map keeps a tensor in an object outside of it",
            "Tensors exist there only while it runs; return what is needed later.",
        )


def _draws_on(excursion: Excursion) -> bool:
    """Whether generators went on from what they gave first in the recording."""
    first = {
        (generator, which): number
        for generator, start in excursion.starts.items()
        for which, number in zip(("key", "offset"), start, strict=True)
    }
    return all(
        first.get(number.source.key, plain(number)) == plain(number) for number in _numbers(excursion.calls)
    )


def _leaked(memories: Iterable[Memory]) -> bool:
    """Whether a tensor without values is still visible."""
    suspects = [
        memory for memory in memories if memory.buffer is None or (memory.written and not memory.is_outside)
    ]
    if any(memory.owner is not None for memory in suspects):
        gc.collect()  # cycles of the tape keep tensors that nobody can reach
    return any(memory.owner is not None for memory in suspects)


# ---- linking -------------------------------------------------------------------------------------------


def _linked(name: str, excursion: Excursion, shown: Sequence[tuple[Memory, Region]]) -> Linked:
    born = set(excursion.born)
    begun: dict[Memory, Region] = {}
    read = [item for call in excursion.calls for item in call.operands if isinstance(item, tuple)]
    for memory, region in (*read, *shown):
        if memory.source is None and memory not in born:
            whole = region if fills(memory, region) else views.whole(region.dtype, memory.nbytes)
            begun.setdefault(memory, whole)
    linker = Linker(name, begun)
    linker.append_all(excursion.calls)
    return linker.finish_parts(shown)


def _numbers(calls: Iterable[Call]) -> Iterator[Any]:
    """The numbers that kernels take from outside, without what the program adds to them."""
    for operand in (item for call in calls for item in call.operands):
        if isinstance(operand, (InputFloat, InputInt)):
            source = operand.source
            base = plain(operand)
            yield with_source(base - source.added if source.added else base, source._replace(added=0))
