"""Attention with several heads over projected queries, keys and values."""

from __future__ import annotations

import math
from typing import NamedTuple

from raxis.dtypes import Category, DType, bool_
from raxis.ops.definitions.attention import scaled_dot_product_attention
from raxis.ops.definitions.dropout import functional_dropout
from raxis.ops.definitions.joining import cat
from raxis.ops.definitions.matrix_sums import linear
from raxis.ops.definitions.padding import pad
from raxis.ops.definitions.softmax import softmax
from raxis.ops.functional import functional
from raxis.tensor import Tensor


class _Heads(NamedTuple):
    """Keys, values and masks as they are extended; `key` and `value` are [S, N, E] or [N * heads, S, E / heads]."""

    key: Tensor
    value: Tensor
    mask: Tensor | None
    padding: Tensor | None

    def extended(self, key: Tensor, value: Tensor, dim: int) -> _Heads:
        """With one more position, which every query may see."""
        masks = (None if mask is None else pad(mask, (0, 1)) for mask in (self.mask, self.padding))
        return _Heads(cat([self.key, key], dim), cat([self.value, value], dim), *masks)


def _additive(name: str, mask: Tensor | None, dtype: DType) -> Tensor | None:
    """A mask that is added to scores; True in a bool mask becomes -inf."""
    if mask is None or mask.dtype.category is Category.FLOAT:
        return mask
    if mask.dtype is not bool_:
        raise AssertionError(f"only bool and floating types of {name} are supported, but got {mask.dtype}.")
    return mask.new_zeros(mask.shape, dtype=dtype).masked_fill(mask, -math.inf)


def _check(
    query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, embed_dim: int, num_heads: int
) -> None:
    ndim = query.ndim
    if ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor"
        )
    if not key.ndim == value.ndim == ndim or (padding is not None and padding.ndim != ndim - 1):
        raise AssertionError(
            f"For {ndim}-D `query`, expected `key` and `value` to be {ndim}-D and `key_padding_mask` to be None or "
            f"{ndim - 1}-D, but found {key.ndim}-D and {value.ndim}-D tensors."
        )
    if query.shape[-1] != embed_dim or embed_dim % num_heads:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim}, divisible by num_heads {num_heads}, but got "
            f"{query.shape[-1]}"
        )
    if key.shape[:-1] != value.shape[:-1]:
        raise AssertionError(f"key shape {list(key.shape)} does not match value shape {list(value.shape)}")


def _mask_of_heads(mask: Tensor | None, batch: int, heads: int, length: int, source: int) -> Tensor | None:
    """The attention mask as [1 or N * heads, L, S]."""
    if mask is None:
        return None
    expected = (length, source) if mask.ndim == 2 else (batch * heads, length, source)
    if mask.ndim not in (2, 3):
        raise RuntimeError(f"attn_mask's dimension {mask.ndim} is not supported")
    if tuple(mask.shape) != expected:
        raise RuntimeError(
            f"The shape of the {mask.ndim}D attn_mask is {tuple(mask.shape)}, but should be {expected}."
        )
    return mask.unsqueeze(0) if mask.ndim == 2 else mask


def _projected(
    operands: tuple[Tensor, Tensor, Tensor], weights: tuple[Tensor | None, ...], bias: Tensor | None
) -> list[Tensor]:
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return [linear(x, w, b) for x, w, b in zip(operands, weights, biases, strict=True)]


def _split_heads(operand: Tensor, heads: int) -> Tensor:
    """[L, N, E] as [N * heads, L, E / heads]."""
    length, batch, size = operand.shape
    return operand.reshape(length, batch * heads, size // heads).transpose(0, 1)


def _combined_mask(state: _Heads, batch: int, heads: int) -> Tensor | None:
    """Attention and padding mask in one, [1 or N * heads, 1 or L, S]."""
    if state.padding is None:
        return state.mask
    source = state.padding.shape[1]
    padding = (
        state.padding.reshape(batch, 1, 1, source).expand(batch, heads, 1, source).reshape(-1, 1, source)
    )
    return padding if state.mask is None else state.mask + padding


_SCHEMA = """multi_head_attention_forward(Tensor query, Tensor key, Tensor value, int embed_dim_to_check, int num_heads,
Tensor? in_proj_weight, Tensor? in_proj_bias, Tensor? bias_k, Tensor? bias_v, bool add_zero_attn, float dropout_p,
Tensor out_proj_weight, Tensor? out_proj_bias, bool training=True, Tensor? key_padding_mask=None,
bool need_weights=True, Tensor? attn_mask=None, bool use_separate_proj_weight=False, Tensor? q_proj_weight=None,
Tensor? k_proj_weight=None, Tensor? v_proj_weight=None, Tensor? static_k=None, Tensor? static_v=None,
bool average_attn_weights=True, bool is_causal=False) -> any"""


@functional(_SCHEMA)
def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float,
    out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: bool = True,
    key_padding_mask: Tensor | None = None, need_weights: bool = True, attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Project queries, keys and values, attend with several heads, project the result.

    Args:
        query: [L, N, E] or [L, E].
        key: [S, N, Ek] or [S, Ek].
        value: [S, N, Ev] or [S, Ev].
        embed_dim_to_check: E.
        num_heads: number of heads; divides E.
        in_proj_weight: [3 * E, E], for query, key and value.
        in_proj_bias: [3 * E].
        bias_k: [1, 1, E], a key appended to the projected ones.
        bias_v: [1, 1, E], its value.
        add_zero_attn: append a key and a value of zeros.
        dropout_p: probability of a weight to be dropped in training.
        out_proj_weight: [E, E].
        out_proj_bias: [E].
        training: whether dropout is applied.
        key_padding_mask: [N, S] or [S]; bool (True: must not be seen) or added to scores.
        need_weights: also return the weights.
        attn_mask: [L, S] or [N * num_heads, L, S]; bool (True: must not be seen) or added to scores.
        use_separate_proj_weight: use the next three instead of `in_proj_weight`.
        q_proj_weight: [E, E].
        k_proj_weight: [E, Ek].
        v_proj_weight: [E, Ev].
        static_k: [N * num_heads, S, E / num_heads], used instead of projected keys.
        static_v: likewise.
        average_attn_weights: average the weights over heads.
        is_causal: hint that `attn_mask`, which must be given, is causal.

    Returns:
        The result in the query's shape, and the weights [N, L, S] ([N, num_heads, L, S] without averaging) or None.

    Raises:
        AssertionError: if numbers of dimensions or embedding sizes do not fit.
        RuntimeError: if a mask does not fit.

    Source: Vaswani et al., "Attention Is All You Need", NeurIPS 2017.

    Example:
        >>> import raxis
        >>> x, w = raxis.ones(3, 1, 4), raxis.ones(4, 4)
        >>> F = raxis.nn.functional
        >>> result, weights = F.multi_head_attention_forward(
        ...     x, x, x, 4, 2, raxis.ones(12, 4), None, None, None, False, 0.0, w, None)
        >>> weights.shape
        raxis.Size([1, 3, 3])
    """
    _check(query, key, value, key_padding_mask, embed_dim_to_check, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    batched = query.ndim == 3
    if not batched:
        query, key, value = (operand.unsqueeze(1) for operand in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, size = query.shape
    weights: tuple[Tensor | None, ...] = (q_proj_weight, k_proj_weight, v_proj_weight)
    if not use_separate_proj_weight:
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        weights = tuple(in_proj_weight.chunk(3))
    q, k, v = _projected((query, key, value), weights, in_proj_bias)
    mask = _mask_of_heads(attn_mask, batch, num_heads, length, k.shape[0])
    state = _Heads(
        k, v, _additive("attn_mask", mask, q.dtype), _additive("key_padding_mask", key_padding_mask, q.dtype)
    )
    if bias_k is not None and bias_v is not None:
        state = state.extended(bias_k.repeat(1, batch, 1), bias_v.repeat(1, batch, 1), 0)
    state = state._replace(
        key=_split_heads(state.key, num_heads) if static_k is None else static_k,
        value=_split_heads(state.value, num_heads) if static_v is None else static_v,
    )
    if add_zero_attn:
        zeros = state.key.new_zeros((batch * num_heads, 1, size // num_heads))
        state = state.extended(zeros, zeros, 1)
    joined = _combined_mask(state, batch, num_heads)
    result, seen = _attend(
        _split_heads(q, num_heads), state, joined, dropout_p if training else 0.0, need_weights
    )
    merged = result.transpose(0, 1).reshape(length, batch, size)
    output = linear(merged, out_proj_weight, out_proj_bias)
    if seen is not None:
        seen = seen.reshape(batch, num_heads, length, -1)
        seen = seen.mean(1) if average_attn_weights else seen
    if batched:
        return output, seen
    return output.squeeze(1), None if seen is None else seen.squeeze(0)


def _attend(
    query: Tensor, state: _Heads, mask: Tensor | None, dropout_p: float, need_weights: bool
) -> tuple[Tensor, Tensor | None]:
    """[N * heads, L, E / heads], and the weights if they are needed."""
    if not need_weights:
        return scaled_dot_product_attention(query, state.key, state.value, mask, dropout_p), None
    scores = (query / math.sqrt(query.shape[-1])).matmul(state.key.transpose(1, 2))
    weights = functional_dropout(softmax(scores if mask is None else scores + mask, -1), dropout_p)
    return weights.matmul(state.value), weights
