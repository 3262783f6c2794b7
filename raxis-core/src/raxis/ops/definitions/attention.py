"""Scaled dot-product attention, alone and with several heads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from raxis.dtypes import Category, bool_, float32, int32, int64
from raxis.layout import broadcast_shapes
from raxis.ops.definitions.dropout import check_probability, functional_dropout
from raxis.ops.definitions.random import kept_scale, unit_interval_of
from raxis.ops.definitions.softmax import along, softmax, softmax_gradient, softmax_result_gradient
from raxis.ops.formulas import wide
from raxis.ops.functional import functional
from raxis.ops.table import lowered
from raxis.ops.trace import broadcast, cast, constant, emit
from raxis.random import reserve
from raxis.tensor import Tensor

# ---- scaled dot products ---------------------------------------------------------------------------


def _causal(query: Tensor, key: Tensor) -> Tensor:
    """Which keys a query may see: none after itself."""
    from raxis import ones

    shape = (query._layout.shape[-2], key._layout.shape[-2])
    return ones(shape, dtype=bool_, device=query.device).tril()


def _probabilities(query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool, scale: float) -> Tensor:
    """The weights of the values, in ops; queries that may see no key have none."""
    scores = (query * scale).matmul(key.transpose(-2, -1))
    if is_causal:
        mask = _causal(query, key)
    if mask is None:
        return softmax(scores, -1)
    if mask.dtype is bool_:
        scores = scores.masked_fill(~mask, -math.inf)
    else:
        scores = scores + mask
    blind = (scores == -math.inf).all(-1, keepdim=True)
    return softmax(scores.masked_fill(blind, 0), -1).masked_fill(blind, 0)


def _gradients(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    is_causal: bool,
    scale: float,
    dropout: float,
    seed: int | None,
    offset: int | None,
) -> tuple[Tensor, ...]:
    return _attention_gradient(grad, query, key, value, mask, is_causal, scale, dropout, seed, offset)


def _mask_gradient(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, is_causal: bool, scale: float,
    dropout: float, seed: int | None, offset: int | None,
) -> Tensor:  # fmt: skip
    weights = _probabilities(query, key, mask, is_causal, scale)
    return softmax_gradient(
        _thinned(grad.matmul(_transposed(value)), dropout, seed, offset), weights, -1
    )  # fmt: skip


@lowered(
    "_thinned(Tensor input, float dropout, Scalar? seed, Scalar? offset) -> Tensor",
    vjp={"input": lambda grad, dropout, seed, offset: _thinned(grad, dropout, seed, offset)},
    method=False,
    function=False,
    out=False,
)
def _thinned(input: Tensor, dropout: float, seed: Tensor | None, offset: Tensor | None) -> Any:
    """Dropout with random numbers of a given place in the generator's sequence; without them, the input."""
    if seed is None or offset is None:
        return input
    return cast(_dropped(wide(input), dropout, seed, offset), input.dtype)


def _transposed(operand: Tensor) -> Tensor:
    return operand.transpose(-2, -1)


class _SecondOrder:
    """What reaches the operands of `_attention_gradient` from its results, in ops.

    With weights W, the noise N of dropout, ``D = N * (grad @ value.T)`` and softmax's own S(g) = W * (g - sum(W * g)),
    the results are ``S(D) @ key * scale``, ``S(D).T @ query * scale`` and ``(N * W).T @ grad``. S is its own transpose.
    """

    def __init__(
        self, grad: Tensor, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool,
        scale: float, noise: tuple[float, int | None, int | None],
    ) -> None:  # fmt: skip
        self.grad, self.query, self.key, self.value, self.scale = grad, query, key, value, scale
        self._noise = noise
        self.weights = _probabilities(query, key, mask, is_causal, scale)
        self.by_weights = self.thinned(grad.matmul(_transposed(value)))

    def thinned(self, weights: Tensor) -> Tensor:
        """N * weights."""
        thinned: Tensor = _thinned(weights, *self._noise)
        return thinned

    def softened(self, slopes: Tensor) -> Tensor:
        """S(slopes)."""
        return softmax_gradient(slopes, self.weights, -1)

    def derive(self, by_query: Tensor, by_key: Tensor, by_value: Tensor) -> tuple[Tensor, ...]:
        """Gradients by grad, query, key, value and mask."""
        scale, slopes = self.scale, self.softened(self.by_weights)
        outer = (by_query.matmul(_transposed(self.key)) + self.query.matmul(_transposed(by_key))) * scale
        through = self.softened(outer)
        by_weights = softmax_result_gradient(self.by_weights, outer, self.weights, -1)
        by_scores = self.softened(by_weights + self.thinned(self.grad.matmul(_transposed(by_value))))
        return (
            self.thinned(through).matmul(self.value) + self.thinned(self.weights).matmul(by_value),
            (by_scores.matmul(self.key) + slopes.matmul(by_key)) * scale,
            (_transposed(by_scores).matmul(self.query) + _transposed(slopes).matmul(by_query)) * scale,
            _transposed(self.thinned(through)).matmul(self.grad),
            by_scores,
        )


def _second_order(
    grads: Sequence[Tensor | None], grad_output: Tensor, query: Tensor, key: Tensor, value: Tensor,
    mask: Tensor | None, is_causal: bool, scale: float, dropout: float, seed: int | None, offset: int | None,
) -> tuple[Tensor, ...]:  # fmt: skip
    given = [
        operand.new_zeros(operand.shape) if found is None else found
        for found, operand in zip(grads, (query, key, value), strict=True)
    ]
    noise = (dropout, seed, offset)
    return _SecondOrder(grad_output, query, key, value, mask, is_causal, scale, noise).derive(*given)


_OPTIONS: dict[str, Any] = {"composite": True, "method": False, "function": False, "out": False}


@lowered(
    "_attention(Tensor query, Tensor key, Tensor value, Tensor? mask, bool is_causal, float scale, float dropout=0.0, "
    "Scalar? seed=None, Scalar? offset=None) -> Tensor",
    vjp={("query", "key", "value"): _gradients, "mask": _mask_gradient},
    **_OPTIONS,
)
def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    is_causal: bool,
    scale: float,
    dropout: float,
    seed: Tensor | None,
    offset: Tensor | None,
) -> Any:
    """``softmax(query @ key.T * scale + mask) @ value``; the softmax of a row of -inf is 0.

    With `seed` and `offset`, a place in the sequence of random numbers, weights are dropped with probability `dropout`.
    """
    queries, keys, values = _stacked(query, key, value)
    weights = _weights(queries, keys, mask, is_causal, scale)
    if seed is not None and offset is not None:
        weights = _dropped(weights, dropout, seed, offset)
    return cast(_products(weights, values, contract=(1, 0)), query.dtype)


@lowered(
    "_attention_gradient(Tensor grad_output, Tensor query, Tensor key, Tensor value, Tensor? mask, bool is_causal, "
    "float scale, float dropout=0.0, Scalar? seed=None, Scalar? offset=None) "
    "-> (Tensor by_query, Tensor by_key, Tensor by_value)",
    vjp={("grad_output", "query", "key", "value", "mask"): _second_order},
    **_OPTIONS,
)
def _attention_gradient(
    grad_output: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    is_causal: bool,
    scale: float,
    dropout: float,
    seed: Tensor | None,
    offset: Tensor | None,
) -> Any:
    """Gradients of `_attention` by query, key and value, in the shapes they are broadcast to."""
    queries, keys, values = _stacked(query, key, value)
    slopes = wide(grad_output)
    weights = _weights(queries, keys, mask, is_causal, scale)
    by_weights, kept = _products(slopes, values, contract=(1, 1)), weights
    if seed is not None and offset is not None:
        by_weights, kept = (_dropped(item, dropout, seed, offset) for item in (by_weights, weights))
    product = emit("mul", weights, by_weights)
    total = along("reduce_sum", product, product.ndim - 1)
    by_scores = emit("sub", product, emit("mul", weights, total))
    by_scores = emit("mul", by_scores, constant(scale, by_scores.dtype, by_scores._layout.shape))
    results = (
        _products(by_scores, keys, contract=(1, 0)),
        _products(by_scores, queries, contract=(0, 0)),
        _products(kept, slopes, contract=(0, 0)),
    )
    return tuple(cast(result, query.dtype) for result in results)


def _stacked(*operands: Tensor) -> list[Tensor]:
    """The operands in the dtype to compute in, repeated to the same batch."""
    batch = broadcast_shapes(*[operand._layout.shape[:-2] for operand in operands])
    return [broadcast(wide(operand), (*batch, *operand._layout.shape[-2:])) for operand in operands]


def _weights(queries: Tensor, keys: Tensor, mask: Tensor | None, is_causal: bool, scale: float) -> Tensor:
    factor = constant(scale, queries.dtype, queries._layout.shape)
    scores = _products(emit("mul", queries, factor), keys, contract=(1, 1))
    masked = mask is not None or is_causal
    return _softmax_of_masked(_masked(scores, mask, is_causal)) if masked else softmax(scores, -1)


def _dropped(weights: Tensor, dropout: float, seed: Tensor, offset: Tensor) -> Tensor:
    """While tracing: the weights that `functional_dropout` gives with these random numbers."""
    shape, dtype = weights._layout.shape, weights.dtype
    words = emit("random_bits", seed, offset, dtype=int32, shape=shape)
    kept = emit("ge", unit_interval_of(words, float32), constant(dropout, float32, shape))
    scaled = emit("mul", weights, constant(kept_scale(dropout), dtype, shape))
    dropped: Tensor = emit("select", kept, scaled, constant(0.0, dtype, shape))
    return dropped


def _products(lhs: Tensor, rhs: Tensor, contract: tuple[int, int]) -> Tensor:
    """Batched matrix products; `contract` are the dimensions, after the batch, that are summed over."""
    batch = lhs.ndim - 2
    dims, (left, right) = tuple(range(batch)), contract
    return emit("dot_general", lhs, rhs, lhs_batch=dims, rhs_batch=dims, lhs_contract=(batch + left,),
                rhs_contract=(batch + right,))  # fmt: skip


def _masked(scores: Tensor, mask: Tensor | None, is_causal: bool) -> Tensor:
    shape, dtype = scores._layout.shape, scores.dtype
    if mask is not None and mask.dtype is not bool_:
        return emit("add", scores, broadcast(cast(mask, dtype), shape))
    if is_causal:
        places = [emit("iota", shape=shape, dtype=int64, dim=len(shape) - back) for back in (2, 1)]
        visible = emit("ge", *places)
    else:
        assert mask is not None  # the caller masks only then
        visible = broadcast(mask, shape)
    return emit("select", visible, scores, constant(-math.inf, dtype, shape))


def _softmax_of_masked(scores: Tensor) -> Tensor:
    shape, dtype, axis = scores._layout.shape, scores.dtype, scores.ndim - 1
    greatest = along("reduce_max", scores, axis)
    blind = emit("eq", greatest, constant(-math.inf, dtype, shape))
    shift = emit("select", blind, constant(0, dtype, shape), greatest)
    powers = emit("exp", emit("sub", scores, shift))
    total = emit("select", blind, constant(1, dtype, shape), along("reduce_sum", powers, axis))
    return emit("div", powers, total)


@functional(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, "
    "bool is_causal=False, float? scale=None, bool enable_gqa=False) -> Tensor"
)
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """Means of values, weighted by how well keys match the queries.

    Args:
        query: [..., L, E].
        key: [..., S, E].
        value: [..., S, Ev].
        attn_mask: [..., L, S]; bool (True: may be seen) or added to the scores. Queries that see nothing give 0.
        dropout_p: probability of a weight to be dropped.
        is_causal: query i sees keys 0 to i only; not together with `attn_mask`.
        scale: factor of the scores; default: ``1 / sqrt(E)``.
        enable_gqa: key and value may have fewer heads (dimension -3), each for a group of the query's.

    Returns:
        [..., L, Ev].

    Raises:
        RuntimeError: if shapes or dtypes do not fit, or both kinds of mask are given.
        ValueError: if `dropout_p` is not in [0, 1].

    Source: Vaswani et al., "Attention Is All You Need", NeurIPS 2017.

    Example:
        >>> import raxis
        >>> q = raxis.ones(1, 2, 4)
        >>> raxis.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True).shape
        raxis.Size([1, 2, 4])
    """
    _check(query, key, value, attn_mask, is_causal)
    check_probability(dropout_p)
    factor = 1 / math.sqrt(query._layout.shape[-1]) if scale is None else float(scale)
    if not enable_gqa or query._layout.shape[-3] == key._layout.shape[-3] == value._layout.shape[-3]:
        return _attend(query, key, value, attn_mask, is_causal, factor, dropout_p)
    grouped = _grouped(query, key, value, attn_mask)
    result = _attend(*grouped, is_causal, factor, dropout_p)
    return result.flatten(-4, -3)


def _attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool, scale: float, dropout: float
) -> Tensor:  # fmt: skip
    attended: Tensor
    if dropout == 0:
        attended = _attention(query, key, value, mask, is_causal, scale)
    elif query._layout.traced:
        weights = _probabilities(query, key, mask, is_causal, scale)
        attended = functional_dropout(weights, dropout).matmul(value)
    else:
        batch = broadcast_shapes(*[operand._layout.shape[:-2] for operand in (query, key, value)])
        count = math.prod(batch) * query._layout.shape[-2] * key._layout.shape[-2]
        place = reserve(None, query._storage.place, max(-(-count // 4), 1))
        attended = _attention(query, key, value, mask, is_causal, scale, float(dropout), *place)
    return attended


def _grouped(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Heads [..., H] of queries as [..., own, H / own], so that those of keys are broadcast, not repeated."""
    heads, own = query._layout.shape[-3], key._layout.shape[-3]
    if heads % own or value._layout.shape[-3] != own:
        raise RuntimeError(
            "Number of heads in key and value must be the same and divide the number of heads in query, but got "
            f"{own}, {value._layout.shape[-3]} and {heads}."
        )
    sizes = (own, heads // own)
    if mask is not None and mask.ndim > 2:
        mask = mask.unflatten(-3, sizes) if mask._layout.shape[-3] == heads else mask.unsqueeze(-3)
    return query.unflatten(-3, sizes), key.unsqueeze(-3), value.unsqueeze(-3), mask


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool) -> None:
    shapes = [list(operand.shape) for operand in (query, key, value)]
    if not query.dtype is key.dtype is value.dtype:
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype} key.dtype: "
            f"{key.dtype} and value.dtype: {value.dtype} instead."
        )
    if min(map(len, shapes)) < 2:
        raise RuntimeError(
            f"Expected query, key, and value to all be at least 2 dimensional, but got shapes {shapes}."
        )
    if query.dtype.category is not Category.FLOAT:
        raise RuntimeError(f"Expected query, key, and value to be floating point, but got {query.dtype}.")
    if shapes[0][-1] != shapes[1][-1] or shapes[1][-2] != shapes[2][-2]:
        raise RuntimeError(
            f"Expected query [..., L, E], key [..., S, E] and value [..., S, Ev], but got shapes {shapes}."
        )
    if mask is None:
        return
    if is_causal:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if mask.dtype is not bool_ and mask.dtype is not query.dtype:
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{mask.dtype} and query.dtype: {query.dtype} instead."
        )
