"""Scaled dot-product attention, alone and with several heads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from raxis.dtypes import Category, bool_, int64
from raxis.layout import broadcast_shapes
from raxis.ops.definitions.dropout import functional_dropout
from raxis.ops.definitions.softmax import along, softmax, softmax_gradient, softmax_result_gradient
from raxis.ops.formulas import wide
from raxis.ops.functional import functional
from raxis.ops.table import lowered
from raxis.ops.trace import broadcast, cast, constant, emit
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
) -> tuple[Tensor, ...]:
    return _attention_gradient(grad, query, key, value, mask, is_causal, scale)


def _mask_gradient(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, is_causal: bool, scale: float
) -> Tensor:
    weights = _probabilities(query, key, mask, is_causal, scale)
    return softmax_gradient(grad.matmul(value.transpose(-2, -1)), weights, -1)


def _transposed(operand: Tensor) -> Tensor:
    return operand.transpose(-2, -1)


class _SecondOrder:
    """What reaches the operands of `_attention_gradient` from its results, in ops.

    With weights W, their gradient ``D = grad @ value.T`` and softmax's own S(g) = W * (g - sum(W * g)), the results
    are ``S(D) @ key * scale``, ``S(D).T @ query * scale`` and ``W.T @ grad``. S is its own transpose.
    """

    def __init__(
        self, grad: Tensor, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool,
        scale: float,
    ) -> None:  # fmt: skip
        self.grad, self.query, self.key, self.value, self.scale = grad, query, key, value, scale
        self.weights = _probabilities(query, key, mask, is_causal, scale)
        self.by_weights = grad.matmul(_transposed(value))

    def softened(self, slopes: Tensor) -> Tensor:
        """S(slopes)."""
        return softmax_gradient(slopes, self.weights, -1)

    def derive(self, by_query: Tensor, by_key: Tensor, by_value: Tensor) -> tuple[Tensor, ...]:
        """Gradients by grad, query, key, value and mask."""
        scale, slopes = self.scale, self.softened(self.by_weights)
        outer = (by_query.matmul(_transposed(self.key)) + self.query.matmul(_transposed(by_key))) * scale
        through = self.softened(outer)
        by_weights = softmax_result_gradient(self.by_weights, outer, self.weights, -1)
        by_scores = self.softened(by_weights + self.grad.matmul(_transposed(by_value)))
        return (
            through.matmul(self.value) + self.weights.matmul(by_value),
            (by_scores.matmul(self.key) + slopes.matmul(by_key)) * scale,
            (_transposed(by_scores).matmul(self.query) + _transposed(slopes).matmul(by_query)) * scale,
            _transposed(through).matmul(self.grad),
            by_scores,
        )


def _second_order(
    grads: Sequence[Tensor | None], grad_output: Tensor, query: Tensor, key: Tensor, value: Tensor,
    mask: Tensor | None, is_causal: bool, scale: float,
) -> tuple[Tensor, ...]:  # fmt: skip
    given = [
        operand.new_zeros(operand.shape) if found is None else found
        for found, operand in zip(grads, (query, key, value), strict=True)
    ]
    return _SecondOrder(grad_output, query, key, value, mask, is_causal, scale).derive(*given)


_OPTIONS: dict[str, Any] = {"composite": True, "method": False, "function": False, "out": False}


@lowered(
    "_attention(Tensor query, Tensor key, Tensor value, Tensor? mask, bool is_causal, float scale) -> Tensor",
    vjp={("query", "key", "value"): _gradients, "mask": _mask_gradient},
    **_OPTIONS,
)
def _attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool, scale: float
) -> Any:
    """``softmax(query @ key.T * scale + mask) @ value``; the softmax of a row of -inf is 0."""
    queries, keys, values = _stacked(query, key, value)
    weights = _weights(queries, keys, mask, is_causal, scale)
    return cast(_products(weights, values, contract=(1, 0)), query.dtype)


@lowered(
    "_attention_gradient(Tensor grad_output, Tensor query, Tensor key, Tensor value, Tensor? mask, bool is_causal, "
    "float scale) -> (Tensor by_query, Tensor by_key, Tensor by_value)",
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
) -> Any:
    """Gradients of `_attention` by query, key and value, in the shapes they are broadcast to."""
    queries, keys, values = _stacked(query, key, value)
    slopes = wide(grad_output)
    weights = _weights(queries, keys, mask, is_causal, scale)
    product = emit("mul", weights, _products(slopes, values, contract=(1, 1)))
    total = along("reduce_sum", product, product.ndim - 1)
    by_scores = emit("sub", product, emit("mul", weights, total))
    by_scores = emit("mul", by_scores, constant(scale, by_scores.dtype, by_scores._layout.shape))
    results = (
        _products(by_scores, keys, contract=(1, 0)),
        _products(by_scores, queries, contract=(0, 0)),
        _products(weights, slopes, contract=(0, 0)),
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
        enable_gqa: repeat heads (dimension -3) of key and value to the query's number.

    Returns:
        [..., L, Ev].

    Raises:
        RuntimeError: if shapes or dtypes do not fit, or both kinds of mask are given.

    Source: Vaswani et al., "Attention Is All You Need", NeurIPS 2017.

    Example:
        >>> import raxis
        >>> q = raxis.ones(1, 2, 4)
        >>> raxis.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True).shape
        raxis.Size([1, 2, 4])
    """
    _check(query, key, value, attn_mask, is_causal)
    if enable_gqa:
        key, value = (_repeated_heads(query, operand) for operand in (key, value))
    factor = 1 / math.sqrt(query._layout.shape[-1]) if scale is None else float(scale)
    if dropout_p > 0:
        weights = _probabilities(query, key, attn_mask, is_causal, factor)
        return functional_dropout(weights, dropout_p).matmul(value)
    return _attention(query, key, value, attn_mask, is_causal, factor)


def _repeated_heads(query: Tensor, operand: Tensor) -> Tensor:
    heads, own = query._layout.shape[-3], operand._layout.shape[-3]
    if heads % own:
        raise RuntimeError(
            f"Number of heads in key and value must divide the number of heads in query, but got {own} and {heads}."
        )
    return operand.repeat_interleave(heads // own, -3)


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
