"""Connectionist temporal classification (Graves et al., ICML 2006)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from raxis.dtypes import Category, int64
from raxis.ops.definitions.joining import stack
from raxis.ops.definitions.loss_reduction import reduced
from raxis.ops.definitions.padding import pad
from raxis.ops.definitions.verdicts import Failure, are_deferred, require_none
from raxis.ops.functional import functional
from raxis.tensor import Tensor

_NEVER = -1e30
"""Logarithm of probability 0, finite so that differences are not NaN."""
_POSSIBLE = 1e20
"""Losses above it belong to targets that cannot be emitted."""

Lengths = Tensor | Sequence[int]


def _lengths(name: str, given: Lengths, like: Tensor, batch: int) -> Tensor:
    lengths: Tensor = (
        given.to(int64) if isinstance(given, Tensor) else like.new_tensor(list(given), dtype=int64)
    )
    if lengths.dtype.category is not Category.INTEGER or lengths._layout.numel != batch:
        raise RuntimeError(f"{name} must be {batch} integers, but has size {list(lengths.shape)}")
    return lengths.reshape(batch).to(like.device)


def _longest(targets: Tensor, lengths: Tensor) -> int:
    """As many labels as the longest target has; where lengths cannot be looked at, as many as it can have."""
    if targets.ndim == 2 or are_deferred():
        return targets.shape[-1]
    return int(lengths.max()) if lengths._layout.numel else 0


def _padded_targets(targets: Tensor, lengths: Tensor, blank: int) -> Tensor:
    """Targets as [N, S], blank beyond their lengths; concatenated ones are split."""
    longest = _longest(targets, lengths)
    places = (lengths.new_ones((longest,)).cumsum(0) - 1).unsqueeze(0)
    labels = targets.to(int64)
    if targets.ndim == 1:
        starts = (lengths.cumsum(0) - lengths).unsqueeze(1)
        labels = labels[(starts + places).clamp(max=max(targets._layout.numel - 1, 0))]
    return labels.masked_fill(places >= lengths.unsqueeze(1), blank)


def _with_blanks(targets: Tensor, blank: int) -> Tensor:
    """[N, 2 * S + 1]: a blank before, between and after the labels."""
    batch, length = targets.shape
    paired = stack([targets.new_full((batch, length), blank), targets], 2).reshape(batch, 2 * length)
    return pad(paired, (0, 1), value=blank)


def _shifted(alpha: Tensor, steps: int) -> Tensor:
    return pad(alpha, (steps, 0), value=_NEVER)[:, : alpha.shape[1]]


def _alphas(emitted: Tensor, skips: Tensor) -> Tensor:
    """[T, N, 2 * S + 1]: log-probability of all beginnings that end at a symbol; `emitted` likewise for one step."""
    first = (
        pad(emitted[0, :, :2], (0, emitted.shape[2] - 2), value=_NEVER)
        if emitted.shape[2] > 1
        else emitted[0]
    )
    alphas = [first]
    for step in range(1, emitted.shape[0]):
        last = alphas[-1]
        ways = [last, _shifted(last, 1), _shifted(last, 2).masked_fill(~skips, _NEVER)]
        alphas.append(stack(ways, 0).logsumexp(0) + emitted[step])
    return stack(alphas, 0)


def _losses(log_probs: Tensor, targets: Tensor, inputs: Tensor, lengths: Tensor, blank: int) -> Tensor:
    """Negative log likelihoods [N]."""
    symbols = _with_blanks(targets, blank)
    steps, batch = log_probs.shape[:2]
    skips = (symbols != blank) & (symbols != pad(symbols, (2, 0), value=blank)[:, : symbols.shape[1]])
    emitted = log_probs.gather(2, symbols.unsqueeze(0).expand(steps, batch, -1))
    alphas = pad(_alphas(emitted, skips), (1, 0), value=_NEVER)
    last = alphas.gather(0, (inputs - 1).clamp(min=0).reshape(1, batch, 1).expand(1, batch, alphas.shape[2]))[
        0
    ]
    ends = stack([2 * lengths + 1, 2 * lengths], 1)
    losses = -last.gather(1, ends).logsumexp(1)
    return losses.masked_fill(losses > _POSSIBLE, math.inf)


def _normalisation(log_probs: Tensor, inputs: Tensor) -> Tensor:
    """Zeros [N] whose gradient is that of the total probability.

    PyTorch's gradient takes the log-probabilities as coming from a softmax and contains its derivative.
    """
    places = inputs.new_ones((log_probs.shape[0],)).cumsum(0) - 1
    within = places.unsqueeze(1) < inputs
    total = log_probs.exp().sum(2).masked_fill(~within, 0).sum(0)
    return total - total.detach()


def _too_long(most: int, position: int, code: int) -> Exception:
    return RuntimeError(
        f"Expected input_lengths to have value at most {most}, but got {most + code} at position {position}."
    )


@functional(
    "ctc_loss(Tensor log_probs, Tensor targets, any input_lengths, any target_lengths, int blank=0, "
    "str reduction='mean', bool zero_infinity=False) -> Tensor"
)
def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Negative log likelihood of label sequences under all their alignments with the input.

    Args:
        log_probs: log-probabilities from a softmax, [T, N, C] or [T, C].
        targets: labels, [N, S] or [sum of target_lengths] (or [S]).
        input_lengths: length of each input, N integers.
        target_lengths: length of each target, N integers.
        blank: the blank label.
        reduction: "mean" (of losses divided by target lengths), "sum" or "none".
        zero_infinity: replace infinite losses, of targets too long for their input, and their gradients by zero.

    Raises:
        ValueError: if `reduction` is unknown.
        RuntimeError: if sizes or the blank label do not fit.

    Source: Graves et al., "Connectionist Temporal Classification", ICML 2006.

    Example:
        >>> import raxis
        >>> even = raxis.zeros(2, 1, 2).log_softmax(2)
        >>> raxis.nn.functional.ctc_loss(even, raxis.tensor([[1]]), [2], [1], reduction="sum").exp()
        tensor(1.3333)
    """
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction; expected 'none', 'mean' or 'sum'.")
    batched = log_probs.ndim == 3
    rows = log_probs if batched else log_probs.unsqueeze(1)
    batch, classes = rows.shape[1:]
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be in label range [0, {classes}), but got {blank}.")
    inputs = _lengths("input_lengths", input_lengths, log_probs, batch)
    lengths = _lengths("target_lengths", target_lengths, log_probs, batch)
    require_none((inputs - rows.shape[0]).clamp(min=0), Failure(partial(_too_long, rows.shape[0])))
    labels = _padded_targets(
        targets if batched or targets.ndim == 2 else targets.unsqueeze(0), lengths, blank
    )
    losses = _losses(rows, labels, inputs, lengths, blank) + _normalisation(rows, inputs)
    if zero_infinity:
        losses = losses.masked_fill(losses == math.inf, 0)
    if reduction == "mean":
        losses = losses / lengths.clamp(min=1).to(losses.dtype)
    return reduced(losses if batched or reduction != "none" else losses.squeeze(0), reduction)
