"""Control flow that depends on values: `cond`, `while_loop`, `scan` and `map`.

Outside of compiled functions they are Python's ``if``, ``while`` and ``for``. Inside, the functions they are given
are recorded on stand-ins and become regions of one instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from raxis.autograd.grad_mode import no_grad
from raxis.compiler.breaks import RegionError, interrupt
from raxis.compiler.choosing import chosen
from raxis.compiler.recording import Recording, user_line
from raxis.compiler.regions import Instruction
from raxis.compiler.signature import describe
from raxis.compiler.tracing import Traced, trace
from raxis.dtypes import bool_
from raxis.interception import active
from raxis.layout import Layout
from raxis.tensor import Tensor
from raxis.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

SHORT = 16
"""Scans of at most so many steps are written out in compiled functions: kernels can be fused across steps."""


def cond(
    pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any] = ()
) -> Any:
    """``true_fn(*operands)`` if `pred` is true, else ``false_fn(*operands)``.

    In a compiled function only one of them runs too, unless gradients are wanted: then both do, and the results and
    gradients of one are taken.

    Args:
        pred: a bool, or a tensor with one element.
        true_fn: takes the operands; may use other tensors, but writes nothing in place.
        false_fn: likewise; its results have the same structure, shapes and dtypes.
        operands: tensors, or containers of them.

    Returns:
        Results that share no memory with the operands.

    Raises:
        RuntimeError: if `pred` has several elements.
        CompileError: in a compiled function, if the results differ in structure, shape or dtype, if something is
            written in place or left behind, or if the functions take different amounts of random numbers.

    Example:
        >>> import raxis
        >>> x = raxis.tensor([1.0, -3.0])
        >>> raxis.cond(x.sum() > 0, lambda x: x + 1, lambda x: -x, (x,))
        tensor([-1.,  3.])
    """
    if not isinstance(pred, Tensor):
        return _taken(bool(pred), true_fn, false_fn, operands)
    predicate = _predicate("cond", pred)
    return _either(
        lambda recording: _recorded_cond(recording, predicate, true_fn, false_fn, tuple(operands)),
        lambda: _taken(bool(predicate), true_fn, false_fn, operands),
    )


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any]
) -> tuple[Any, ...]:
    """``carried = body_fn(*carried)`` as long as ``cond_fn(*carried)`` is true; the last `carried`, as a tuple.

    No gradients flow through it.

    Args:
        cond_fn: gives a tensor with one element.
        body_fn: gives the next values: a tuple with the structure, shapes and dtypes of the first ones.
        carried_inputs: the first values: tensors, or containers of them.

    Returns:
        Tensors that share no memory with `carried_inputs`.

    Raises:
        RuntimeError: if what is carried is no tensor, or changes in structure, shape or dtype.
        CompileError: in a compiled function, if something is random, written in place or left behind.

    Example:
        >>> import raxis
        >>> raxis.while_loop(lambda x: x < 100, lambda x: (x * 2,), (raxis.tensor(3),))
        (tensor(192),)
    """
    carried = tuple(carried_inputs)
    _tensors("while_loop", "carried_inputs", tree_flatten(carried)[0])
    with no_grad():
        return _either(  # type: ignore[no-any-return]
            lambda recording: _recorded_while(recording, cond_fn, body_fn, carried),
            lambda: _looped(cond_fn, body_fn, carried),
        )


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any,
    *,
    dim: int = 0,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """``carry, y = combine_fn(carry, x)`` for the slices x of `xs` in order; the last carry, and all y stacked.

    Args:
        combine_fn: gives the next carry, like `init` in structure, shapes and dtypes, and tensors to stack.
        init: the first carry: a tensor, or a container of tensors.
        xs: a tensor, or a container of tensors with equal sizes along `dim`.
        dim: the dimension to go along, also that of the stacked results (the first for those with fewer dimensions).
        reverse: go from the last slice to the first; results are stacked at their slice's place.

    Raises:
        RuntimeError: if `xs` holds no slice, sizes differ, something is no tensor, or the carry changes in structure,
            shape or dtype.
        CompileError: in a compiled function, if something is written in place or left behind.

    Example:
        >>> import raxis
        >>> total, sums = raxis.scan(lambda t, x: (t + x, t + x), raxis.tensor(0), raxis.arange(4))
        >>> total, sums
        (tensor(6), tensor([0, 1, 3, 6]))
    """
    return _scanned("scan", combine_fn, init, xs, dim, reverse)


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """``f(x, *args)`` for the slices x of `xs` along the first dimension, stacked.

    Args:
        f: gives a tensor, or a container of tensors.
        xs: a tensor, or a container of tensors with equal first sizes.
        args: given to every call.

    Raises:
        RuntimeError: if `xs` holds no slice, first sizes differ, or something is no tensor.
        CompileError: in a compiled function, if something is written in place or left behind.

    Example:
        >>> import raxis
        >>> raxis.map(lambda row: row.sum(), raxis.ones(2, 3))
        tensor([3., 3.])
    """
    return _scanned("map", lambda carry, x: (carry, f(x, *args)), (), xs, 0, False)[1]


def _either(recorded: Callable[[Recording], Any], eager: Callable[[], Any]) -> Any:
    """What runs here: as part of a recording, or now."""
    recording = active.recording
    if recording is None:
        return eager()
    try:
        return recorded(recording)
    except RegionError as error:
        if recording.regions or recording.options.on_break == "error":
            raise
        reason = error.reason
    interrupt(recording, reason)
    return eager()


# ---- cond ----------------------------------------------------------------------------------------------


def _predicate(name: str, pred: Tensor) -> Tensor:
    if pred.numel() != 1:
        raise RuntimeError(
            f"{name} expected a predicate with one element, but got {describe([pred])}. Reduce it, such as with .any()."
        )
    return pred.reshape(()).to(bool_)


def _taken(
    pred: bool, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any]
) -> Any:
    return _own((true_fn if pred else false_fn)(*operands), operands)


def _recorded_cond(
    recording: Recording,
    predicate: Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...],
) -> Any:
    tensors = _noted(recording, [predicate, *tree_flatten(operands)[0]])[1:]
    functions = [trace(recording, function, operands) for function in (true_fn, false_fn)]
    _check_branches(*functions)
    first = functions[0]
    if any(function.requires_grad for function in functions):
        return chosen(recording, predicate, (true_fn, false_fn), operands)
    instruction = Instruction(recording, functions, tensors)
    regions = [instruction.region(function) for function in functions]
    made = iter(instruction.emit("cond", regions, predicate=predicate))
    for generator, blocks in first.draws.items():
        recording.draw(generator, blocks)
    leaves = [next(made) if isinstance(leaf, Layout) else leaf for leaf in first.results]
    return tree_unflatten(leaves, first.structure)


def _check_branches(first: Traced, second: Traced) -> None:
    if first.structure != second.structure or _kinds(first.results) != _kinds(second.results):
        raise RegionError(
            user_line(),
            f"the functions given to cond return different things: {_listed(first.results)} if true, "
            f"{_listed(second.results)} if false",
            "Both must return the same structure, with tensors of the same shapes and dtypes.",
        )
    if first.draws != second.draws:
        raise RegionError(
            user_line(),
            "the functions given to cond take different amounts of random numbers, so that what is random afterwards "
            "would depend on the predicate",
            "Draw the numbers before, and pass them as operands.",
        )


# ---- while_loop ----------------------------------------------------------------------------------------


def _looped(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried: tuple[Any, ...]) -> Any:
    first = carried
    leaves, structure = tree_flatten(carried)
    while bool(_test(cond_fn(*carried))):
        carried = _next(body_fn(*carried))
        made, made_structure = tree_flatten(carried)
        _check_carry("while_loop", "body_fn", leaves, structure, made, made_structure)
    return _own(carried, first)


def _test(value: Any) -> Any:
    return _predicate("while_loop", value) if isinstance(value, Tensor) else value


def _next(carried: Any) -> tuple[Any, ...]:
    if not isinstance(carried, (tuple, list)):
        raise RuntimeError(
            f"while_loop expected body_fn to return a tuple of the carried values, but got {type(carried).__name__}."
        )
    return tuple(carried)


def _recorded_while(
    recording: Recording,
    cond_fn: Callable[..., Any],
    body_fn: Callable[..., Any],
    carried: tuple[Any, ...],
) -> Any:
    leaves, structure = tree_flatten(carried)
    tensors = _noted(recording, leaves)
    test = trace(recording, lambda *given: _test(cond_fn(*given)), carried)
    body = trace(recording, lambda *given: _next(body_fn(*given)), carried)
    _check_loop(test, body)
    _check_carry("while_loop", "body_fn", leaves, structure, body.results, body.structure)
    instruction = Instruction(recording, (test, body), tensors)
    regions = [instruction.region(test), instruction.region(body, passes_on=True)]
    return tree_unflatten(instruction.emit("while", regions), structure)


def _check_loop(test: Traced, body: Traced) -> None:
    if not isinstance(test.results[0], Layout):
        raise RegionError(
            user_line(),
            f"cond_fn of while_loop returned {test.results[0]!r}, which would be the same in every turn",
            "Return a tensor with one element.",
        )
    if test.draws or body.draws:
        raise RegionError(
            user_line(),
            "random numbers of a while_loop would be the same in every turn",
            "Draw them before and carry them, or use scan.",
        )


# ---- scan and map --------------------------------------------------------------------------------------


def _scanned(
    name: str, combine_fn: Callable[[Any, Any], Any], init: Any, xs: Any, dim: int, reverse: bool
) -> tuple[Any, Any]:
    leaves, structure = tree_flatten(xs)
    _tensors(name, "init", tree_flatten(init)[0])
    _tensors(name, "xs", leaves)
    sizes = sorted({leaf.size(dim) for leaf in leaves})
    if len(sizes) != 1 or sizes[0] == 0:
        raise RuntimeError(
            f"{name} expected tensors with one size along dim {dim}, at least 1, but got {describe(leaves) or 'none'}."
        )
    dim = dim % leaves[0].dim()
    return _either(  # type: ignore[no-any-return]
        lambda recording: _recorded_scan(name, recording, combine_fn, init, xs, dim, reverse),
        lambda: _stepped(name, combine_fn, init, leaves, structure, dim, reverse),
    )


def _stepped(
    name: str,
    combine_fn: Callable[[Any, Any], Any],
    init: Any,
    leaves: Sequence[Tensor],
    structure: TreeSpec,
    dim: int,
    reverse: bool,
) -> tuple[Any, Any]:
    from raxis import stack

    steps = range(leaves[0].size(dim))
    first, first_structure = tree_flatten(init)
    carry, columns, shape = init, [], None
    for step in reversed(steps) if reverse else steps:
        x = tree_unflatten([leaf.select(dim, step) for leaf in leaves], structure)
        carry, y = _pair(name, combine_fn(carry, x))
        made, made_structure = tree_flatten(carry)
        _check_carry(name, "combine_fn", first, first_structure, made, made_structure)
        results, shape = tree_flatten(y)
        _tensors(name, "what is stacked", results)
        columns.append(results)
    if reverse:
        columns.reverse()
    stacked = [stack(parts, dim if dim <= parts[0].dim() else 0) for parts in zip(*columns, strict=True)]
    assert shape is not None  # there was a step
    return _own(carry, (init, leaves)), tree_unflatten(stacked, shape)


def _pair(name: str, result: Any) -> Any:
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise RuntimeError(
            f"{name} expected combine_fn to return a pair, the next carry and what to stack, "
            f"but got {type(result).__name__}."
        )
    return tuple(result)


def _recorded_scan(
    name: str,
    recording: Recording,
    combine_fn: Callable[[Any, Any], Any],
    init: Any,
    xs: Any,
    dim: int,
    reverse: bool,
) -> tuple[Any, Any]:
    from raxis import flip, movedim

    carries, carry_structure = tree_flatten(init)
    leaves, structure = tree_flatten(xs)
    _noted(recording, [*carries, *leaves])
    example = tree_unflatten([leaf.select(dim, 0) for leaf in leaves], structure)
    body = trace(recording, lambda carry, x: _pair(name, combine_fn(carry, x)), (init, example))
    if body.requires_grad or body.draws or leaves[0].size(dim) <= SHORT:
        return _stepped(name, combine_fn, init, leaves, structure, dim, reverse)
    made_carry, made = _divided(body)
    _check_carry(name, "combine_fn", carries, carry_structure, made_carry, body.structure.children[0])
    _tensors(name, "what is stacked", made)
    sequences = [movedim(leaf, dim, 0) for leaf in leaves]
    if reverse:
        sequences = [flip(sequence, (0,)) for sequence in sequences]
    instruction = Instruction(recording, (body,), carries, sequences)
    region = instruction.region(body, passes_on=True)
    results = instruction.emit("scan", (region,), {"carry_count": instruction.carry_count})
    stacked = results[len(carries) :]
    if reverse:
        stacked = [flip(tensor, (0,)) for tensor in stacked]
    stacked = [movedim(tensor, 0, dim) if dim < tensor.dim() else tensor for tensor in stacked]
    return tree_unflatten(results[: len(carries)], carry_structure), tree_unflatten(
        stacked, body.structure.children[1]
    )


def _divided(body: Traced) -> tuple[Sequence[Any], Sequence[Any]]:
    """What combine_fn returns: the carry, and what is stacked."""
    count = body.structure.children[0].num_leaves
    return body.results[:count], body.results[count:]


# ---- operands and results ------------------------------------------------------------------------------


def _tensors(name: str, what: str, leaves: Iterable[Any]) -> None:
    other = next((leaf for leaf in leaves if not isinstance(leaf, (Tensor, Layout))), None)
    if other is not None:
        raise RuntimeError(
            f"{name} expected {what} to be tensors, but got {type(other).__name__}. Numbers become tensors by "
            "raxis.tensor(number)."
        )


def _noted(recording: Recording, leaves: Sequence[Any]) -> list[Tensor]:
    """The tensors among the leaves, noted as operands."""
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    devices = {leaf._layout.device: None for leaf in tensors}
    if recording.device is not None:
        devices[recording.device] = None
    if len(devices) > 1:
        raise RegionError(
            user_line(),
            f"several devices take part: {', '.join(str(device) for device in devices)}",
            "Move the tensors to one device first.",
        )
    for tensor in tensors:
        recording.note((tensor,), tensor._layout.device)
    return tensors


def _check_carry(
    name: str,
    function: str,
    given: Sequence[Tensor],
    structure: TreeSpec,
    made: Sequence[Any],
    made_structure: TreeSpec,
) -> None:
    if structure != made_structure or _kinds(given) != _kinds(made):
        raise RuntimeError(
            f"{name} expected {function} to return a carry like the first one, {_listed(given)}, in the same structure, "
            f"but got {_listed(made)}. Shapes and dtypes must stay as they are."
        )


def _kinds(leaves: Iterable[Any]) -> list[Any]:
    """What must agree of leaves: dtype and shape of tensors and layouts, other things as they are."""
    layouts = [leaf._layout if isinstance(leaf, Tensor) else leaf for leaf in leaves]
    return [(item.dtype, item.shape) if isinstance(item, Layout) else item for item in layouts]


def _listed(leaves: Iterable[Any]) -> str:
    texts = [
        f"{item.dtype.name}{list(item.shape)}" if isinstance(item, Layout) else describe([item])
        for item in leaves
    ]
    return f"({', '.join(texts)})"


def _own(results: Any, given: Any) -> Any:
    """Results of which those that share memory with given tensors are copied."""
    storages = {id(leaf._storage) for leaf in tree_flatten(given)[0] if isinstance(leaf, Tensor)}
    leaves, structure = tree_flatten(results)
    own = [
        leaf.clone() if isinstance(leaf, Tensor) and id(leaf._storage) in storages else leaf for leaf in leaves
    ]
    return tree_unflatten(own, structure)
