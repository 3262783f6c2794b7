"""`vmap`: a function of one example, for all examples at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from raxis import random
from raxis.func.levels import BatchDevice, enter, here, leave, lifted
from raxis.placement import get_default_device
from raxis.tensor import Tensor
from raxis.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

Dims = int | tuple[Any, ...] | list[Any] | dict[Any, Any] | None
RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Callable[..., Any],
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that does for every example, along a dimension of its arguments, what `func` does for one.

    `func` sees tensors without that dimension. It runs once: each op works on all examples at once.

    Args:
        func: takes tensors or containers of them, returns tensors or containers of them.
        in_dims: along which dimension of each argument the examples lie; None: all get the same. An int for all
            arguments, or a tuple with an int, None or a container of these for each argument. Keyword arguments are the
            same for all examples.
        out_dims: where the examples' dimension goes in the results: an int, or a container like the results; None for
            what is the same for all examples, which may be something other than a tensor.
        randomness: what random functions do: "error", or numbers that are "different" or the "same" for all examples.
        chunk_size: how many examples to do at a time; None: all.

    Raises:
        ValueError: on a call, if `in_dims` does not fit the arguments, the numbers of examples differ, or something
            other than tensors is returned.
        RuntimeError: if `func` asks for elements (``.item()``, ``if tensor:``), writes in place to a tensor that the
            examples share, or is random although `randomness` is "error".

    Example:
        >>> import raxis
        >>> dot = lambda x, y: (x * y).sum()
        >>> raxis.func.vmap(dot, in_dims=(0, None))(raxis.ones(3, 2), raxis.tensor([1.0, 2.0]))
        tensor([3., 3., 3.])
    """
    if randomness not in RANDOMNESS:
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = getattr(func, "__name__", type(func).__name__)

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        call = _Call(name, func, kwargs, out_dims, randomness)
        leaves, structure = tree_flatten(args)
        dims = _dims_of(name, in_dims, args, leaves, structure)
        size = _size_of(name, leaves, dims)
        if chunk_size is None or chunk_size >= size:
            return call.run(leaves, structure, dims, size)
        return call.in_chunks(leaves, structure, dims, size, chunk_size)

    return mapped


# ---- arguments -----------------------------------------------------------------------------------------


def _dims_of(
    name: str, in_dims: Dims, args: tuple[Any, ...], leaves: Sequence[Any], structure: TreeSpec
) -> list[int | None]:
    """The dimension of the examples in each leaf of the arguments, counted from 0."""
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) "
            f"tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    spread = _spread(in_dims, structure)
    if spread is None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of inputs. "
            f"in_dims has structure {tree_flatten(in_dims)[1]} but inputs has structure {structure}."
        )
    return [_in_dim(name, in_dims, leaf, dim) for leaf, dim in zip(leaves, spread, strict=True)]


def _spread(prefix: Any, structure: TreeSpec) -> list[Any] | None:
    """The leaves of `prefix`, each for all leaves of `structure` at its place; None if it does not fit."""
    parts, own = tree_flatten(prefix)
    return _matched(iter(parts), own, structure)


def _matched(parts: Iterator[Any], own: TreeSpec, structure: TreeSpec) -> list[Any] | None:
    if own.type is None:
        return [next(parts)] * structure.num_leaves
    if (own.type, own.context, len(own.children)) != (
        structure.type,
        structure.context,
        len(structure.children),
    ):
        return None
    found: list[Any] = []
    for child, other in zip(own.children, structure.children, strict=True):
        inner = _matched(parts, child, other)
        if inner is None:
            return None
        found += inner
    return found


def _in_dim(name: str, in_dims: Dims, leaf: Any, dim: Any) -> int | None:
    begin = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{begin}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"{begin}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over "
            "non-Tensor arguments, please use None as the respective in_dim"
        )
    if not -leaf.ndim <= dim < leaf.ndim:
        raise ValueError(
            f"{begin}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.ndim} so "
            f"expected in_dim to satisfy -{leaf.ndim} <= in_dim < {leaf.ndim}."
        )
    return dim % leaf.ndim


def _size_of(name: str, leaves: Sequence[Any], dims: Sequence[int | None]) -> int:
    sizes: list[int] = [leaf.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError(
            f"vmap({name})(<inputs>): got no dimension to map over: in_dims is None for every input. Give at least one "
            "tensor an int."
        )
    if len(set(sizes)) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the "
            "mapped dimension"
        )
    return sizes[0]


# ---- calls ---------------------------------------------------------------------------------------------


class _Call:
    """One call of a mapped function."""

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        kwargs: dict[str, Any],
        out_dims: Dims,
        randomness: str,
    ) -> None:
        self._name = name
        self._func = func
        self._kwargs = kwargs
        self._out_dims = out_dims
        self._randomness = randomness

    def run(self, leaves: Sequence[Any], structure: TreeSpec, dims: Sequence[int | None], size: int) -> Any:
        """The results for all examples."""
        results, made, out_dims = self._results(leaves, structure, dims, size)
        moved = [_placed(result, dim) for result, dim in zip(results, out_dims, strict=True)]
        return tree_unflatten(moved, made)

    def in_chunks(
        self,
        leaves: Sequence[Any],
        structure: TreeSpec,
        dims: Sequence[int | None],
        size: int,
        chunk_size: int,
    ) -> Any:
        """The results, some examples at a time."""
        from raxis.ops.definitions.joining import cat

        before = random.default_generator.get_state() if self._randomness == "same" else None
        columns: list[Sequence[Any]] = []
        for start in range(0, size, chunk_size):
            if before is not None and start:
                random.default_generator.set_state(before)
            count = min(chunk_size, size - start)
            part = [
                leaf if dim is None else leaf.narrow(dim, start, count)
                for leaf, dim in zip(leaves, dims, strict=True)
            ]
            results, made, out_dims = self._results(part, structure, dims, count)
            columns.append(results)
        pairs = zip(zip(*columns, strict=True), out_dims, strict=True)
        joined = [parts[0] if dim is None else _placed(cat(parts), dim) for parts, dim in pairs]
        return tree_unflatten(joined, made)

    def _results(
        self, leaves: Sequence[Any], structure: TreeSpec, dims: Sequence[int | None], size: int
    ) -> tuple[list[Any], TreeSpec, list[int | None]]:
        """The results' leaves with the examples first, their structure, and where the examples go."""
        inner = [
            leaf if dim is None else _entered(leaf, size, self._randomness, dim)
            for leaf, dim in zip(leaves, dims, strict=True)
        ]
        level = BatchDevice.over(get_default_device(), size, self._randomness)
        with level:
            returned = self._func(*tree_unflatten(inner, structure), **self._kwargs)
        results, made = tree_flatten(returned)
        out_dims = self._out_dims_of(results, made)
        pairs = zip(results, out_dims, strict=True)
        left = [self._same_for_all(result) if dim is None else _left(result, level) for result, dim in pairs]
        return left, made, out_dims

    def _same_for_all(self, result: Any) -> Any:
        """A result that has no dimension of examples."""
        if not isinstance(result, Tensor) or not isinstance(result.device, BatchDevice):
            return result
        if result._storage.buffer.stride is not None:
            raise ValueError(
                f"vmap({self._name}, ...): `{self._name}` can not return a value for each example when out_dim is None"
            )
        return leave(result).select(0, 0)

    def _out_dims_of(self, results: Sequence[Any], made: TreeSpec) -> list[int | None]:
        spread = _spread(self._out_dims, made)
        begin = f"vmap({self._name}, ..., out_dims={self._out_dims})"
        if spread is None:
            raise ValueError(
                f"{begin}: out_dims is not compatible with the structure of `outputs`. out_dims has structure "
                f"{tree_flatten(self._out_dims)[1]} but outputs has structure {made}."
            )
        for result, dim in zip(results, spread, strict=True):
            if dim is None:
                continue
            if not isinstance(dim, int):
                raise ValueError(
                    f"{begin}: `out_dims` must be an int, None or a container of these, but got {dim!r}."
                )
            if not isinstance(result, Tensor):
                raise ValueError(
                    f"vmap({self._name}, ...): `{self._name}` must only return Tensors, got type {type(result)}. Did "
                    "you mean to set out_dims= to None for output?"
                )
        return spread


def _placed(result: Any, dim: int | None) -> Any:
    """A result with the examples where they are wanted."""
    return result if dim is None else result.movedim(0, dim)


def _entered(tensor: Tensor, size: int, randomness: str, dim: int) -> Tensor:
    outer = here(tensor.device)
    return enter(lifted(tensor, outer), BatchDevice.over(outer, size, randomness), dim)


def _left(tensor: Tensor, level: BatchDevice) -> Tensor:
    """A result for all examples; one that is the same for all of them is repeated."""
    device = level.at_level(tensor.device)
    if not isinstance(device, BatchDevice) or device.depth != level.depth:
        raise RuntimeError(
            "vmap: a result belongs to a call of vmap that is over, not to the one that returns it. Return tensors of "
            "one call from that call only."
        )
    return leave(lifted(tensor, device))
