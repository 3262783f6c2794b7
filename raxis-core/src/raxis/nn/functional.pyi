"""Generated from the op table by ``python -m raxis.ops.stubs --write``; do not edit."""

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

from raxis.dtypes import DType
from raxis.memory_format import memory_format as MemoryFormat
from raxis.placement import DeviceLike
from raxis.random import Generator
from raxis.tensor import Tensor

def adaptive_avg_pool1d(input: Tensor, output_size: builtins.int | Sequence[builtins.int]) -> Tensor:
    """Means of as many windows of the last 1 dimension(s) as `output_size` says."""

def adaptive_avg_pool2d(input: Tensor, output_size: builtins.int | Sequence[builtins.int]) -> Tensor:
    """Means of as many windows of the last 2 dimension(s) as `output_size` says."""

def adaptive_avg_pool3d(input: Tensor, output_size: builtins.int | Sequence[builtins.int]) -> Tensor:
    """Means of as many windows of the last 3 dimension(s) as `output_size` says."""

def adaptive_max_pool1d(input: Tensor, output_size: builtins.int | Sequence[builtins.int], return_indices: builtins.bool = ...) -> Tensor:
    """Maxima of as many windows of the last 1 dimension(s) as `output_size` says."""

def adaptive_max_pool2d(input: Tensor, output_size: builtins.int | Sequence[builtins.int], return_indices: builtins.bool = ...) -> Tensor:
    """Maxima of as many windows of the last 2 dimension(s) as `output_size` says."""

def adaptive_max_pool3d(input: Tensor, output_size: builtins.int | Sequence[builtins.int], return_indices: builtins.bool = ...) -> Tensor:
    """Maxima of as many windows of the last 3 dimension(s) as `output_size` says."""

def affine_grid(theta: Tensor, size: builtins.int | Sequence[builtins.int], align_corners: builtins.bool | None = ...) -> Tensor:
    """Where an affine map takes every place of an image, for `grid_sample`."""

def alpha_dropout(input: Tensor, p: builtins.float = ..., training: builtins.bool = ..., inplace: builtins.bool = ...) -> Tensor:
    """Dropout that keeps zero mean and unit variance, for networks of `selu`."""

def avg_pool1d(input: Tensor, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., padding: builtins.int | Sequence[builtins.int] = ..., ceil_mode: builtins.bool = ..., count_include_pad: builtins.bool = ...) -> Tensor:
    """The mean of every window of the last dimension."""

def avg_pool2d(input: Tensor, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., padding: builtins.int | Sequence[builtins.int] = ..., ceil_mode: builtins.bool = ..., count_include_pad: builtins.bool = ..., divisor_override: builtins.int | None = ..., *, out: Any = ...) -> Tensor:
    """The mean of every window of the last 2 dimension(s)."""

def avg_pool3d(input: Tensor, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., padding: builtins.int | Sequence[builtins.int] = ..., ceil_mode: builtins.bool = ..., count_include_pad: builtins.bool = ..., divisor_override: builtins.int | None = ..., *, out: Any = ...) -> Tensor:
    """The mean of every window of the last 3 dimension(s)."""

def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = ..., bias: Tensor | None = ..., training: builtins.bool = ..., momentum: builtins.float = ..., eps: builtins.float = ...) -> Tensor:
    """Normalise every channel over batch and space."""

def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor:
    """``input1 @ weight[k] @ input2`` for every output feature k, plus `bias`."""

def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = ..., size_average: builtins.bool | None = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ...) -> Tensor:
    """Cross entropy between probabilities and truth, both in [0, 1]."""

def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = ..., size_average: builtins.bool | None = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ..., pos_weight: Tensor | None = ...) -> Tensor:
    """Cross entropy between ``sigmoid(input)`` and truth in [0, 1], without overflow."""

def celu(input: Tensor, alpha: builtins.float = ..., inplace: builtins.bool = ...) -> Tensor:
    """`input` where positive, else ``alpha * expm1(input / alpha)`` (Barron, 2017)."""

def celu_(input: Tensor, alpha: builtins.float = ...) -> Tensor:
    """`celu` in place."""

def channel_shuffle(input: Tensor, groups: builtins.int) -> Tensor:
    """Channels of `groups` groups dealt out in turn: [N, g * c, ...] as [N, c * g, ...]."""

def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: builtins.int | Sequence[builtins.int] = ..., padding: Any = ..., dilation: builtins.int | Sequence[builtins.int] = ..., groups: builtins.int = ...) -> Tensor:
    """Cross-correlation with a kernel over the last 1 dimension(s)."""

def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: builtins.int | Sequence[builtins.int] = ..., padding: Any = ..., dilation: builtins.int | Sequence[builtins.int] = ..., groups: builtins.int = ...) -> Tensor:
    """Cross-correlation with a kernel over the last 2 dimension(s)."""

def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: builtins.int | Sequence[builtins.int] = ..., padding: Any = ..., dilation: builtins.int | Sequence[builtins.int] = ..., groups: builtins.int = ...) -> Tensor:
    """Cross-correlation with a kernel over the last 3 dimension(s)."""

def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: builtins.int | Sequence[builtins.int] = ..., padding: builtins.int | Sequence[builtins.int] = ..., output_padding: builtins.int | Sequence[builtins.int] = ..., groups: builtins.int = ..., dilation: builtins.int | Sequence[builtins.int] = ...) -> Tensor:
    """Transpose of `conv1d`: every input element adds its multiple of the kernel to the result."""

def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: builtins.int | Sequence[builtins.int] = ..., padding: builtins.int | Sequence[builtins.int] = ..., output_padding: builtins.int | Sequence[builtins.int] = ..., groups: builtins.int = ..., dilation: builtins.int | Sequence[builtins.int] = ...) -> Tensor:
    """Transpose of `conv2d`: every input element adds its multiple of the kernel to the result."""

def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: builtins.int | Sequence[builtins.int] = ..., padding: builtins.int | Sequence[builtins.int] = ..., output_padding: builtins.int | Sequence[builtins.int] = ..., groups: builtins.int = ..., dilation: builtins.int | Sequence[builtins.int] = ...) -> Tensor:
    """Transpose of `conv3d`: every input element adds its multiple of the kernel to the result."""

def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: builtins.float = ..., size_average: builtins.bool | None = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ...) -> Tensor:
    """``1 - cosine`` where the target is 1, ``max(0, cosine - margin)`` where it is -1."""

def cosine_similarity(x1: Tensor, x2: Tensor, dim: builtins.int = ..., eps: builtins.float = ...) -> Tensor:
    """The cosine of the angle between vectors along `dim`."""

def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = ..., size_average: builtins.bool | None = ..., ignore_index: builtins.int = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ..., label_smoothing: builtins.float = ...) -> Tensor:
    """Cross entropy between logits and classes or class probabilities."""

def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: builtins.int = ..., reduction: builtins.str = ..., zero_infinity: builtins.bool = ...) -> Tensor:
    """Negative log likelihood of label sequences under all their alignments with the input."""

def dropout(input: Tensor, p: builtins.float = ..., training: builtins.bool = ..., inplace: builtins.bool = ...) -> Tensor:
    """Zero elements with probability `p` and scale the others by ``1 / (1 - p)``."""

def dropout1d(input: Tensor, p: builtins.float = ..., training: builtins.bool = ..., inplace: builtins.bool = ...) -> Tensor:
    """Zero whole channels of sequences with probability `p` and scale the others."""

def dropout2d(input: Tensor, p: builtins.float = ..., training: builtins.bool = ..., inplace: builtins.bool = ...) -> Tensor:
    """Zero whole channels of images with probability `p` and scale the others."""

def dropout3d(input: Tensor, p: builtins.float = ..., training: builtins.bool = ..., inplace: builtins.bool = ...) -> Tensor:
    """Zero whole channels of volumes with probability `p` and scale the others."""

def elu(input: Tensor, alpha: builtins.float = ..., inplace: builtins.bool = ...) -> Tensor:
    """`input` where positive, else ``alpha * expm1(input)`` (Clevert et al., 2015)."""

def elu_(input: Tensor, alpha: builtins.float = ...) -> Tensor:
    """`elu` in place."""

def embedding(input: Tensor, weight: Tensor, padding_idx: builtins.int | None = ..., max_norm: builtins.float | None = ..., norm_type: builtins.float = ..., scale_grad_by_freq: builtins.bool = ..., sparse: builtins.bool = ...) -> Tensor:
    """Rows of a table."""

def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = ..., max_norm: builtins.float | None = ..., norm_type: builtins.float = ..., scale_grad_by_freq: builtins.bool = ..., mode: builtins.str = ..., sparse: builtins.bool = ..., per_sample_weights: Tensor | None = ..., include_last_offset: builtins.bool = ..., padding_idx: builtins.int | None = ...) -> Tensor:
    """Sums, means or maxima of bags of rows of a table."""

def feature_alpha_dropout(input: Tensor, p: builtins.float = ..., training: builtins.bool = ..., inplace: builtins.bool = ...) -> Tensor:
    """`alpha_dropout` of whole channels of [N, C, ...]."""

def fold(input: Tensor, output_size: builtins.int | Sequence[builtins.int], kernel_size: builtins.int | Sequence[builtins.int], dilation: builtins.int | Sequence[builtins.int] = ..., padding: builtins.int | Sequence[builtins.int] = ..., stride: builtins.int | Sequence[builtins.int] = ...) -> Tensor:
    """Images from sliding blocks, the transpose of `unfold`: overlapping blocks sum."""

def fractional_max_pool2d(input: Tensor, kernel_size: builtins.int | Sequence[builtins.int], output_size: builtins.int | Sequence[builtins.int] | None = ..., output_ratio: Any = ..., return_indices: builtins.bool = ..., _random_samples: Tensor | None = ...) -> Tensor:
    """The greatest elements of windows, whose places are random, spread evenly over the input."""

def fractional_max_pool3d(input: Tensor, kernel_size: builtins.int | Sequence[builtins.int], output_size: builtins.int | Sequence[builtins.int] | None = ..., output_ratio: Any = ..., return_indices: builtins.bool = ..., _random_samples: Tensor | None = ...) -> Tensor:
    """As `fractional_max_pool2d`, for volumes [N, C, T, H, W] or [C, T, H, W]."""

def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor | builtins.complex, full: builtins.bool = ..., eps: builtins.float = ..., reduction: builtins.str = ...) -> Tensor:
    """Negative log likelihood of values under normal distributions."""

def gelu(input: Tensor, *, approximate: builtins.str = ..., out: Any = ...) -> Tensor:
    """`input` times the normal distribution function of it (Hendrycks & Gimpel, 2016)."""

def glu(input: Tensor, dim: builtins.int = ...) -> Tensor:
    """The first half of `input` times the sigmoid of the second (Dauphin et al., 2016)."""

def grid_sample(input: Tensor, grid: Tensor, mode: builtins.str = ..., padding_mode: builtins.str = ..., align_corners: builtins.bool | None = ...) -> Tensor:
    """Values of images at the places of a grid."""

def group_norm(input: Tensor, num_groups: builtins.int, weight: Tensor | None = ..., bias: Tensor | None = ..., eps: builtins.float = ...) -> Tensor:
    """Normalise groups of channels over channels and space."""

def gumbel_softmax(logits: Tensor, tau: builtins.float = ..., hard: builtins.bool = ..., eps: builtins.float = ..., dim: builtins.int = ...) -> Tensor:
    """A random, differentiable, nearly one-hot choice with probabilities ``softmax(logits)``."""

def hardshrink(input: Tensor, lambd: builtins.float = ..., *, out: Any = ...) -> Tensor:
    """`input` where ``abs(input) > lambd``, else 0."""

def hardsigmoid(input: Tensor, inplace: builtins.bool = ...) -> Tensor:
    """``clamp(input + 3, 0, 6) / 6``."""

def hardswish(input: Tensor, inplace: builtins.bool = ...) -> Tensor:
    """``input * hardsigmoid(input)`` (Howard et al., 2019)."""

def hardtanh(input: Tensor, min_val: builtins.float = ..., max_val: builtins.float = ..., inplace: builtins.bool = ...) -> Tensor:
    """`input` clamped to ``[min_val, max_val]``."""

def hardtanh_(input: Tensor, min_val: builtins.float = ..., max_val: builtins.float = ...) -> Tensor:
    """`hardtanh` in place."""

def hinge_embedding_loss(input: Tensor, target: Tensor, margin: builtins.float = ..., size_average: builtins.bool | None = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ...) -> Tensor:
    """The distance `input` where the target is 1, ``max(0, margin - input)`` where it is -1."""

def huber_loss(input: Tensor, target: Tensor, reduction: builtins.str = ..., delta: builtins.float = ..., weight: Tensor | None = ...) -> Tensor:
    """Half the squared difference up to `delta`, linear above."""

def instance_norm(input: Tensor, running_mean: Tensor | None = ..., running_var: Tensor | None = ..., weight: Tensor | None = ..., bias: Tensor | None = ..., use_input_stats: builtins.bool = ..., momentum: builtins.float = ..., eps: builtins.float = ...) -> Tensor:
    """Normalise every channel of every sample over space."""

def interpolate(input: Tensor, size: builtins.int | Sequence[builtins.int] | None = ..., scale_factor: builtins.float | Sequence[builtins.float] | None = ..., mode: builtins.str = ..., align_corners: builtins.bool | None = ..., recompute_scale_factor: builtins.bool | None = ..., antialias: builtins.bool = ...) -> Tensor:
    """Resample the spatial dimensions to a size, or by a factor."""

def kl_div(input: Tensor, target: Tensor, size_average: builtins.bool | None = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ..., log_target: builtins.bool = ...) -> Tensor:
    """Terms of the Kullback-Leibler divergence of the target from the input."""

def l1_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ..., weight: Tensor | None = ...) -> Tensor:
    """Absolute difference."""

def layer_norm(input: Tensor, normalized_shape: builtins.int | Sequence[builtins.int], weight: Tensor | None = ..., bias: Tensor | None = ..., eps: builtins.float = ...) -> Tensor:
    """Normalise over the last dimensions."""

def leaky_relu(input: Tensor, negative_slope: builtins.float = ..., inplace: builtins.bool = ...) -> Tensor:
    """`input` where positive, else ``negative_slope * input``."""

def leaky_relu_(input: Tensor, negative_slope: builtins.float = ...) -> Tensor:
    """`leaky_relu` in place."""

def linear(input: Tensor, weight: Tensor, bias: Tensor | None = ..., *, out: Any = ...) -> Tensor:
    """``input @ weight.T + bias``."""

def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = ..., weight: Tensor | None = ..., reduction: builtins.str = ..., ignore_index: builtins.int | None = ..., label_smoothing: builtins.float = ..., options: Any = ...) -> Tensor:
    """`cross_entropy` of a linear layer's outputs."""

def local_response_norm(input: Tensor, size: builtins.int, alpha: builtins.float = ..., beta: builtins.float = ..., k: builtins.float = ...) -> Tensor:
    """Divide by a power of the mean square over `size` neighbouring channels."""

def log_softmax(input: Tensor, dim: builtins.int | None = ..., _stacklevel: builtins.int = ..., dtype: DType | None = ...) -> Tensor:
    """``log(softmax(input))`` along a dimension; see `raxis.log_softmax`."""

def logsigmoid(input: Tensor, *, out: Any = ...) -> Tensor:
    """``log(sigmoid(input))`` without overflow."""

def lp_pool1d(input: Tensor, norm_type: builtins.float, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., ceil_mode: builtins.bool = ...) -> Tensor:
    """The p-norm of every window: ``(sum(x ** norm_type)) ** (1 / norm_type)``."""

def lp_pool2d(input: Tensor, norm_type: builtins.float, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., ceil_mode: builtins.bool = ...) -> Tensor:
    """The p-norm of every window: ``(sum(x ** norm_type)) ** (1 / norm_type)``."""

def lp_pool3d(input: Tensor, norm_type: builtins.float, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., ceil_mode: builtins.bool = ...) -> Tensor:
    """The p-norm of every window: ``(sum(x ** norm_type)) ** (1 / norm_type)``."""

def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: builtins.float = ..., size_average: builtins.bool | None = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ...) -> Tensor:
    """``max(0, -target * (input1 - input2) + margin)``: a target of 1 (-1) asks for a greater first (second) score."""

def max_pool1d(input: Tensor, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., padding: builtins.int | Sequence[builtins.int] = ..., dilation: builtins.int | Sequence[builtins.int] = ..., ceil_mode: builtins.bool = ..., return_indices: builtins.bool = ...) -> Tensor:
    """The greatest element of every window of the last 1 dimension(s)."""

def max_pool2d(input: Tensor, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., padding: builtins.int | Sequence[builtins.int] = ..., dilation: builtins.int | Sequence[builtins.int] = ..., ceil_mode: builtins.bool = ..., return_indices: builtins.bool = ...) -> Tensor:
    """The greatest element of every window of the last 2 dimension(s)."""

def max_pool3d(input: Tensor, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., padding: builtins.int | Sequence[builtins.int] = ..., dilation: builtins.int | Sequence[builtins.int] = ..., ceil_mode: builtins.bool = ..., return_indices: builtins.bool = ...) -> Tensor:
    """The greatest element of every window of the last 3 dimension(s)."""

def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., padding: builtins.int | Sequence[builtins.int] = ..., output_size: builtins.int | Sequence[builtins.int] | None = ...) -> Tensor:
    """Puts every element at its place in a larger tensor of zeros: a partial inverse of `max_pool1d`."""

def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., padding: builtins.int | Sequence[builtins.int] = ..., output_size: builtins.int | Sequence[builtins.int] | None = ...) -> Tensor:
    """Puts every element at its place in a larger tensor of zeros: a partial inverse of `max_pool2d`."""

def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., padding: builtins.int | Sequence[builtins.int] = ..., output_size: builtins.int | Sequence[builtins.int] | None = ...) -> Tensor:
    """Puts every element at its place in a larger tensor of zeros: a partial inverse of `max_pool3d`."""

def mish(input: Tensor, inplace: builtins.bool = ...) -> Tensor:
    """``input * tanh(softplus(input))`` (Misra, 2019)."""

def mse_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ..., weight: Tensor | None = ...) -> Tensor:
    """Squared difference."""

def multi_head_attention_forward(query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: builtins.int, num_heads: builtins.int, in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: builtins.bool, dropout_p: builtins.float, out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: builtins.bool = ..., key_padding_mask: Tensor | None = ..., need_weights: builtins.bool = ..., attn_mask: Tensor | None = ..., use_separate_proj_weight: builtins.bool = ..., q_proj_weight: Tensor | None = ..., k_proj_weight: Tensor | None = ..., v_proj_weight: Tensor | None = ..., static_k: Tensor | None = ..., static_v: Tensor | None = ..., average_attn_weights: builtins.bool = ..., is_causal: builtins.bool = ...) -> Any:
    """Project queries, keys and values, attend with several heads, project the result."""

def multi_margin_loss(input: Tensor, target: Tensor, p: builtins.int = ..., margin: builtins.float = ..., weight: Tensor | None = ..., size_average: builtins.bool | None = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ...) -> Tensor:
    """Mean over classes of ``max(0, margin - input[target] + input[other]) ** p``."""

def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ...) -> Tensor:
    """Mean over classes of ``max(0, 1 - (input[wanted] - input[other]))`` for all wanted and other classes."""

def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = ..., size_average: builtins.bool | None = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ...) -> Tensor:
    """Binary cross entropy with logits, averaged over the last dimension, the classes."""

def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = ..., size_average: builtins.bool | None = ..., ignore_index: builtins.int = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ...) -> Tensor:
    """Negative log likelihood of class indices under log-probabilities."""

def normalize(input: Tensor, p: builtins.float = ..., dim: builtins.int = ..., eps: builtins.float = ..., out: Tensor | None = ...) -> Tensor:
    """`input` divided by its p-norm along `dim`."""

def one_hot(tensor: Tensor, num_classes: builtins.int = ...) -> Tensor:
    """Vectors of zeros with a one at each class."""

def pad(input: Tensor, pad: builtins.int | Sequence[builtins.int], mode: builtins.str = ..., value: builtins.float | None = ...) -> Tensor:
    """`input` with elements added before and after its last dimensions."""

def pairwise_distance(x1: Tensor, x2: Tensor, p: builtins.float = ..., eps: builtins.float = ..., keepdim: builtins.bool = ...) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last dimension."""

def pdist(input: Tensor, p: builtins.float = ...) -> Tensor:
    """The p-norm distances between all pairs of rows, in the order (0, 1), (0, 2), ..., (1, 2), ..."""

def pixel_shuffle(input: Tensor, upscale_factor: builtins.int) -> Tensor:
    """[*, C * r * r, H, W] as [*, C, H * r, W * r]."""

def pixel_unshuffle(input: Tensor, downscale_factor: builtins.int) -> Tensor:
    """[*, C, H * r, W * r] as [*, C * r * r, H, W]: the inverse of `pixel_shuffle`."""

def poisson_nll_loss(input: Tensor, target: Tensor, log_input: builtins.bool = ..., full: builtins.bool = ..., size_average: builtins.bool | None = ..., eps: builtins.float = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ...) -> Tensor:
    """Negative log likelihood of counts under Poisson distributions."""

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`input` where positive, else ``weight * input`` (He et al., 2015)."""

def relu(input: Tensor, inplace: builtins.bool = ...) -> Tensor:
    """``max(input, 0)``; NaN stays."""

def relu6(input: Tensor, inplace: builtins.bool = ...) -> Tensor:
    """``min(max(input, 0), 6)``."""

def relu_(input: Tensor) -> Tensor:
    """`relu` in place."""

def rms_norm(input: Tensor, normalized_shape: builtins.int | Sequence[builtins.int], weight: Tensor | None = ..., eps: builtins.float | None = ...) -> Tensor:
    """Divide by the root mean square over the last dimensions."""

def rrelu(input: Tensor, lower: builtins.float = ..., upper: builtins.float = ..., training: builtins.bool = ..., inplace: builtins.bool = ...) -> Tensor:
    """leaky_relu with a slope drawn from ``[lower, upper]`` for each element; its mean outside training."""

def rrelu_(input: Tensor, lower: builtins.float = ..., upper: builtins.float = ..., training: builtins.bool = ...) -> Tensor:
    """`rrelu` in place."""

def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = ..., dropout_p: builtins.float = ..., is_causal: builtins.bool = ..., scale: builtins.float | None = ..., enable_gqa: builtins.bool = ...) -> Tensor:
    """Means of values, weighted by how well keys match the queries."""

def selu(input: Tensor, inplace: builtins.bool = ...) -> Tensor:
    """The scaled elu that keeps mean 0 and variance 1 (Klambauer et al., 2017)."""

def selu_(input: Tensor) -> Tensor:
    """`selu` in place."""

def sigmoid(input: Tensor) -> Tensor:
    """The logistic function; see `raxis.sigmoid`."""

def silu(input: Tensor, inplace: builtins.bool = ...) -> Tensor:
    """``input * sigmoid(input)``."""

def smooth_l1_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ..., beta: builtins.float = ...) -> Tensor:
    """Squared below a difference of `beta`, absolute above, smooth between."""

def soft_margin_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ...) -> Tensor:
    """``log(1 + exp(-target * input))`` for targets of 1 and -1."""

def softmax(input: Tensor, dim: builtins.int | None = ..., _stacklevel: builtins.int = ..., dtype: DType | None = ...) -> Tensor:
    """``exp(input) / sum(exp(input))`` along a dimension; see `raxis.softmax`."""

def softmin(input: Tensor, dim: builtins.int | None = ..., _stacklevel: builtins.int = ..., dtype: DType | None = ...) -> Tensor:
    """``softmax(-input)`` along a dimension."""

def softplus(input: Tensor, beta: builtins.float = ..., threshold: builtins.float = ..., *, out: Any = ...) -> Tensor:
    """``log(1 + exp(beta * input)) / beta``, a smooth relu."""

def softshrink(input: Tensor, lambd: builtins.float = ..., *, out: Any = ...) -> Tensor:
    """`input` moved towards 0 by `lambd`, and 0 within it."""

def softsign(input: Tensor) -> Tensor:
    """``input / (1 + abs(input))``."""

def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent; see `raxis.tanh`."""

def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``."""

def threshold(input: Tensor, threshold: builtins.float, value: builtins.float, inplace: builtins.bool = ...) -> Tensor:
    """`input` where above `threshold`, else `value`."""

def threshold_(input: Tensor, threshold: builtins.float, value: builtins.float) -> Tensor:
    """`threshold` in place."""

def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: builtins.float = ..., p: builtins.float = ..., eps: builtins.float = ..., swap: builtins.bool = ..., size_average: builtins.bool | None = ..., reduce: builtins.bool | None = ..., reduction: builtins.str = ...) -> Tensor:
    """``max(0, distance(anchor, positive) - distance(anchor, negative) + margin)``."""

def triplet_margin_with_distance_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Any = ..., margin: builtins.float = ..., swap: builtins.bool = ..., reduction: builtins.str = ...) -> Tensor:
    """`triplet_margin_loss` with any distance function of two tensors (default: `pairwise_distance`)."""

def unfold(input: Tensor, kernel_size: builtins.int | Sequence[builtins.int], dilation: builtins.int | Sequence[builtins.int] = ..., padding: builtins.int | Sequence[builtins.int] = ..., stride: builtins.int | Sequence[builtins.int] = ...) -> Tensor:
    """Sliding blocks of images: ``(N, C, H, W)`` to ``(N, C * kernel area, blocks)``."""

def upsample(input: Tensor, size: builtins.int | Sequence[builtins.int] | None = ..., scale_factor: builtins.float | Sequence[builtins.float] | None = ..., mode: builtins.str = ..., align_corners: builtins.bool | None = ...) -> Tensor:
    """Deprecated name of `interpolate`."""

def upsample_bilinear(input: Tensor, size: builtins.int | Sequence[builtins.int] | None = ..., scale_factor: builtins.float | Sequence[builtins.float] | None = ...) -> Tensor:
    """Deprecated: `interpolate` with ``mode="bilinear"`` and aligned corners."""

def upsample_nearest(input: Tensor, size: builtins.int | Sequence[builtins.int] | None = ..., scale_factor: builtins.float | Sequence[builtins.float] | None = ...) -> Tensor:
    """Deprecated: `interpolate` with ``mode="nearest"``."""
