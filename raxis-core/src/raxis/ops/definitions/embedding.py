"""Looking up rows of a table: embedding, bags of embeddings, one-hot vectors."""

from __future__ import annotations

from typing import Any

from raxis.autograd.grad_mode import no_grad
from raxis.dtypes import HALF, float32, int32, int64
from raxis.interception import active
from raxis.ops.definitions.masking import as_int
from raxis.ops.definitions.verdicts import Failure, are_deferred, require_none, saying
from raxis.ops.formulas import wide
from raxis.ops.functional import functional
from raxis.ops.table import lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor

_OPTIONS: dict[str, Any] = {"composite": True, "method": False, "function": False, "out": False}


def _padding_zeroed(rows: Tensor, index: Tensor, padding_idx: int) -> Tensor:
    """`rows` [N, D] with zeros where `index` [N] is the padding's."""
    if padding_idx < 0:
        return rows
    shape = rows._layout.shape
    kept = emit("ne", index, constant(padding_idx, int64, index._layout.shape))
    return emit(
        "select", emit("broadcast", kept, shape=shape, dims=(0,)), rows, constant(0, rows.dtype, shape)
    )


def _frequencies(index: Tensor, rows: int, dtype: Any) -> Tensor:
    """How often each element of `index` [N] occurs in it."""
    ones = constant(1, dtype, index._layout.shape)
    counts = emit("put", constant(0, dtype, (rows,)), index, ones, dim=0, reduce="add")
    return emit("take", counts, index, dim=0)


@lowered(
    "_embedding(Tensor weight, Tensor indices, int padding_idx, bool scale_grad_by_freq) -> Tensor",
    vjp={
        "weight": lambda grad, indices, weight_layout, padding_idx, scale_grad_by_freq: _embedding_gradient(
            grad, indices, weight_layout.shape[0], padding_idx, scale_grad_by_freq
        )
    },
    **_OPTIONS,
)
def _embedding(weight: Tensor, indices: Tensor, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """Rows of `weight` [V, D] at `indices`: [*indices, D]."""
    return emit("take", weight, cast(indices, int64), dim=0)


def _from_rows(grad: Tensor, indices: Tensor, padding_idx: int, scale_grad_by_freq: bool) -> Tensor:
    """The transpose of `_embedding_gradient`."""
    rows = _embedding(grad, indices, padding_idx, scale_grad_by_freq)
    if scale_grad_by_freq:
        counts = indices.reshape(-1).to(int64).bincount(minlength=grad.shape[0])
        rows = rows / counts[indices.to(int64)].unsqueeze(-1)
    return rows if padding_idx < 0 else rows.masked_fill((indices == padding_idx).unsqueeze(-1), 0)


@lowered(
    "_embedding_gradient(Tensor grad, Tensor indices, int rows, int padding_idx, bool scale_grad_by_freq) -> Tensor",
    vjp={"grad": _from_rows},
    **_OPTIONS,
)
def _embedding_gradient(
    grad: Tensor, indices: Tensor, rows: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    """Every row's gradients summed; none for the row `padding_idx` (-1: no padding)."""
    size = grad._layout.shape[-1]
    index = emit("reshape", cast(indices, int64), shape=(indices._layout.numel,))
    updates = emit("reshape", wide(grad), shape=(indices._layout.numel, size))
    if scale_grad_by_freq:
        counts = _frequencies(index, rows, updates.dtype)
        updates = emit("div", updates, emit("broadcast", counts, shape=updates._layout.shape, dims=(0,)))
    updates = _padding_zeroed(updates, index, padding_idx)
    zeros = constant(0, updates.dtype, (rows, size))
    return cast(emit("put", zeros, index, updates, dim=0, reduce="add"), grad.dtype)


def _check(name: str, indices: Tensor, weight: Tensor, padding_idx: int | None) -> int:
    """The padding's row as a non-negative number, -1 for none."""
    if indices.dtype not in (int32, int64):
        raise RuntimeError(
            f"Expected tensor for argument 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{indices.dtype} instead (while checking arguments for {name})"
        )
    if weight.ndim != 2:
        raise RuntimeError(
            f"'weight' must be 2-D, but got size {list(weight.shape)} (while checking arguments for {name})"
        )
    if padding_idx is None:
        return -1
    rows = weight._layout.shape[0]
    if not -rows <= padding_idx < rows:
        raise AssertionError(f"Padding_idx must be within num_embeddings: got {padding_idx} for {rows} rows.")
    return padding_idx + rows if padding_idx < 0 else padding_idx


def _limit_norms(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows in use down to `max_norm`, in place and off the tape."""
    with no_grad():
        used = indices.reshape(-1).to(int64)  # a row that is used twice gets the same values twice
        rows = weight[used]
        norms = rows.norm(norm_type, 1, keepdim=True)
        scaled = rows * (max_norm / (norms + 1e-7))
        weight.index_copy_(0, used, scaled.where(norms > max_norm, rows))


@functional(
    "embedding(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, float norm_type=2.0, "
    "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor"
)
def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Rows of a table.

    Args:
        input: row numbers, int32 or int64, any shape.
        weight: the table, [V, D].
        padding_idx: a row that gets no gradient.
        max_norm: scale rows in use down to this norm, in place.
        norm_type: the order of that norm.
        scale_grad_by_freq: divide gradients by how often the row occurs in `input`.
        sparse: accepted for compatibility; gradients are dense.

    Returns:
        [*input.shape, D].

    Raises:
        RuntimeError: if dtypes or dimensions do not fit.
        IndexError: if a number is not a row.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.embedding(raxis.tensor([1, 0]), raxis.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([[3., 4.],
                [1., 2.]])
    """
    padding = _check("embedding", input, weight, padding_idx)
    if max_norm is not None:
        _limit_norms(weight, input, max_norm, norm_type)
    return _embedding(weight, input, padding, scale_grad_by_freq)


@functional("one_hot(Tensor tensor, int num_classes=-1) -> Tensor")
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Vectors of zeros with a one at each class.

    Args:
        tensor: classes, int64, any shape.
        num_classes: length of the vectors; -1: the greatest class and one.

    Returns:
        int64, [*tensor.shape, num_classes].

    Raises:
        RuntimeError: if the dtype is not int64, or a class is negative or too great.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.one_hot(raxis.tensor([1, 0]))
        tensor([[0, 1],
                [1, 0]])
    """
    if tensor.dtype is not int64:
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, but got {tensor.dtype}."
        )
    if not tensor._layout.numel and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if tensor._layout.numel:
        num_classes = _checked_classes(tensor.device.all_examples(tensor), num_classes)
    return _one_hot(tensor, num_classes)


def _checked_classes(classes: Tensor, count: int) -> int:
    """How many classes there are; raises unless all are in range."""
    if are_deferred() and count != -1:
        require_none((-classes).clamp(min=0), Failure(lambda _, code: _out_of_range(-code, count), 40))
        beyond = (classes + 1 - count).clamp(min=0)
        require_none(beyond, Failure(lambda _, code: _out_of_range(code + count - 1, count), 40))
        return count
    if active.recording is not None:
        active.recording.note_host("one_hot was not given num_classes, and asked for the greatest class")
    least, greatest = map(as_int, classes.aminmax())
    if least < 0:
        raise _out_of_range(least, count)
    if count != -1 and greatest >= count:
        raise _out_of_range(greatest, count)
    return greatest + 1 if count == -1 else count


def _out_of_range(value: int, count: int) -> Exception:
    if value < 0:
        return RuntimeError(f"Class values must be non-negative, but got {value}.")
    return RuntimeError(f"Class values must be smaller than num_classes={count}, but got {value}.")


@lowered("_one_hot(Tensor input, int classes) -> Tensor", method=False, function=False, out=False)
def _one_hot(input: Tensor, classes: int) -> Any:
    """`one_hot` of classes that are in range."""
    shape = (*input._layout.shape, classes)
    given = emit("broadcast", input, shape=shape, dims=tuple(range(len(shape) - 1)))
    own = emit("iota", shape=shape, dtype=int64, dim=len(shape) - 1)
    return cast(emit("eq", given, own), int64)


_BAG = (
    "embedding_bag(Tensor input, Tensor weight, Tensor? offsets=None, float? max_norm=None, float norm_type=2, "
    "bool scale_grad_by_freq=False, str mode='mean', bool sparse=False, Tensor? per_sample_weights=None, "
    "bool include_last_offset=False, int? padding_idx=None) -> Tensor"
)


@functional(_BAG)
def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
    per_sample_weights: Tensor | None = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """Sums, means or maxima of bags of rows of a table.

    Args:
        input: row numbers, [B, L] (bags of one length) or [N] (with `offsets`).
        weight: the table, [V, D].
        offsets: where each bag starts in `input`, [B].
        max_norm: scale rows in use down to this norm, in place.
        norm_type: the order of that norm.
        scale_grad_by_freq: divide gradients by how often the row occurs in `input`; not for "max".
        mode: "sum", "mean" or "max".
        sparse: accepted for compatibility; gradients are dense.
        per_sample_weights: factor of each row, shape of `input`; mode "sum" only.
        include_last_offset: `offsets` has one more element, the end of the last bag.
        padding_idx: a row that does not count.

    Returns:
        [B, D]; bags without rows are zero.

    Raises:
        ValueError: if shapes do not fit.
        RuntimeError: if dtypes do not fit.
        NotImplementedError: if weights are given for another mode than "sum".

    Example:
        >>> import raxis
        >>> raxis.nn.functional.embedding_bag(raxis.tensor([[0, 1]]), raxis.tensor([[1.0], [3.0]]))
        tensor([[2.]])
    """
    padding = _check("embedding_bag", input, weight, padding_idx)
    _check_bags(input, weight, offsets, mode, scale_grad_by_freq, per_sample_weights)
    if max_norm is not None:
        _limit_norms(weight, input, max_norm, norm_type)
    flat = input.reshape(-1).to(int64)
    bag, count = _bags(input, offsets, include_last_offset)
    rows = _embedding(weight, flat, padding, scale_grad_by_freq)
    if rows.dtype in HALF:
        rows = rows.to(float32)
    counted = flat != padding
    if mode == "max":
        return _greatest(rows, bag, counted, count).to(weight.dtype)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    rows = rows.masked_fill(~counted.unsqueeze(1), 0)
    sums = rows.new_zeros((count, weight.shape[1])).index_add(0, bag, rows)
    if mode == "sum":
        return sums.to(weight.dtype)
    sizes = rows.new_zeros((count,)).index_add(0, bag, counted.to(rows.dtype))
    return (sums / sizes.clamp(min=1).unsqueeze(1)).to(weight.dtype)


def _check_bags(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None,
    mode: str,
    scale_grad_by_freq: bool,
    factors: Tensor | None,
) -> None:
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"mode has to be one of sum, mean or max, but got {mode!r}.")
    if factors is not None and factors._layout.shape != input._layout.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({factors.shape}) is not None, then it must have the same shape as "
            f"the input ({input.shape})"
        )
    if input.ndim == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated as a mini-batch of fixed length "
            "sequences."
        )
    if input.ndim == 1 and (offsets is None or offsets.ndim != 1):
        raise ValueError("offsets has to be a 1D Tensor for a 1D input, but it is not.")
    if input.ndim not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if factors is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode={mode!r})."
        )
    if factors is not None and factors.dtype is not weight.dtype:
        raise RuntimeError(
            f"expected per_sample_weights to have dtype {weight.dtype}, like weight, but got {factors.dtype}."
        )


def _bags(input: Tensor, offsets: Tensor | None, include_last_offset: bool) -> tuple[Tensor, int]:
    """The bag of every element, and the number of bags."""
    from raxis import arange, searchsorted

    if offsets is None:
        bags, length = input.shape
        return arange(bags, device=input.device).reshape(bags, 1).expand(bags, length).reshape(-1), bags
    sentence = (
        "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0."
    )
    require_none(offsets[:1] != 0, saying(ValueError, sentence))
    places = arange(input.shape[0], device=input.device)
    bag = searchsorted(offsets.to(int64), places, right=True) - 1
    return bag, offsets.shape[0] - int(include_last_offset)


def _greatest(rows: Tensor, bag: Tensor, counted: Tensor, count: int) -> Tensor:
    """Maxima of the counted rows of every bag, zero where there is none."""
    lowest = rows.masked_fill(~counted.unsqueeze(1), -float("inf"))
    index = bag.unsqueeze(1).expand(rows.shape)
    start = rows.new_full((count, rows.shape[1]), -float("inf"))
    maxima = start.scatter_reduce(0, index, lowest, "amax")
    return maxima.masked_fill(maxima == -float("inf"), 0)
