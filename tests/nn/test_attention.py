"""Attention and transformer layers agree with PyTorch, for every mask and layout."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

import raxis
from raxis import nn
from tests.nn.parity import assert_same, build_pair, to_raxis

LENGTH, KEYS, BATCH, FEATURES, HEADS = 4, 5, 3, 6, 2


def tensors(*lengths: int, batched: bool, batch_first: bool, features: tuple[int, ...]) -> list[torch.Tensor]:
    made = []
    for length, size in zip(lengths, features, strict=True):
        shape = (
            (length, size) if not batched else (BATCH, length, size) if batch_first else (length, BATCH, size)
        )
        made.append(torch.randn(shape, dtype=torch.float64, requires_grad=True))
    return made


def causal(length: int) -> torch.Tensor:
    return torch.ones(length, length, dtype=torch.bool).triu(1)


def assert_same_gradients(module: Any, reference: Any) -> None:
    for (name, parameter), (other, wanted) in zip(
        module.named_parameters(), reference.named_parameters(), strict=True
    ):
        assert name == other
        assert_same(parameter.grad, wanted.grad)


MASKS: dict[str, dict[str, Any]] = {
    "none": {},
    "bool": {"attn_mask": torch.ones(LENGTH, KEYS, dtype=torch.bool).triu(2)},
    "float": {"attn_mask": torch.linspace(-1, 1, LENGTH * KEYS, dtype=torch.float64).reshape(LENGTH, KEYS)},
    "per head": {
        "attn_mask": torch.linspace(-1, 1, BATCH * HEADS * LENGTH * KEYS).double().reshape(-1, LENGTH, KEYS)
    },
    "padding": {
        "key_padding_mask": torch.tensor([[False] * 3 + [True] * 2, [False] * 5, [True] + [False] * 4])
    },
    "both": {
        "attn_mask": torch.linspace(-1, 1, LENGTH * KEYS, dtype=torch.float64).reshape(LENGTH, KEYS),
        "key_padding_mask": torch.tensor([[0.0, 0.0, -1.0, 0.0, -math.inf]] * 3, dtype=torch.float64),
    },
}


@pytest.mark.parametrize("mask", list(MASKS))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bias": False, "batch_first": True},
        {"kdim": 4, "vdim": 7},
        {"add_bias_kv": True, "add_zero_attn": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("need_weights", [True, False])
def test_attention(mask: str, options: dict[str, Any], need_weights: bool) -> None:
    module, reference = build_pair("MultiheadAttention", FEATURES, HEADS, **options)
    assert list(module.state_dict()) == list(reference.state_dict())
    sizes = (FEATURES, options.get("kdim", FEATURES), options.get("vdim", FEATURES))
    given = tensors(
        LENGTH, KEYS, KEYS, batched=True, batch_first=options.get("batch_first", False), features=sizes
    )
    settings = {**MASKS[mask], "need_weights": need_weights}
    expected, expected_weights = reference(*given, **settings)
    copies = to_raxis(given)
    actual, actual_weights = module(*copies, **to_raxis(settings))
    assert_same(actual, expected)
    assert_same(actual_weights, expected_weights)
    seed = torch.rand_like(expected)
    expected.backward(seed)
    actual.backward(to_raxis(seed))
    for copy, original in zip(copies, given, strict=True):
        assert_same(copy.grad, original.grad)
    assert_same_gradients(module, reference)


def test_attention_without_batch_and_with_all_weights() -> None:
    module, reference = build_pair("MultiheadAttention", FEATURES, HEADS)
    given = tensors(LENGTH, KEYS, KEYS, batched=False, batch_first=False, features=(FEATURES,) * 3)
    padding = torch.tensor([False, False, True, False, False])
    expected = reference(*given, key_padding_mask=padding, average_attn_weights=False)
    assert_same(
        module(*to_raxis(given), key_padding_mask=to_raxis(padding), average_attn_weights=False), expected
    )


def test_attention_drops_weights_while_training() -> None:
    module = nn.MultiheadAttention(FEATURES, HEADS, dropout=0.5)
    given = raxis.ones(LENGTH, BATCH, FEATURES)
    _, weights = module(given, given, given, average_attn_weights=False)
    assert bool((weights == 0).any())
    _, weights = module.eval()(given, given, given)
    assert bool((weights != 0).all())


def test_attention_refuses() -> None:
    for sizes in ((6, 4), (0, 1), (4, 0)):
        with pytest.raises(ValueError, match="divisible by num_heads"):
            nn.MultiheadAttention(*sizes)
    given = raxis.ones(LENGTH, FEATURES)
    with pytest.raises(RuntimeError, match="is_causal hint"):
        nn.MultiheadAttention(FEATURES, HEADS)(given, given, given, is_causal=True)


LAYER_OPTIONS = [{}, {"norm_first": True, "activation": "gelu"}, {"batch_first": True, "bias": False}]


@pytest.mark.parametrize("options", LAYER_OPTIONS, ids=str)
@pytest.mark.parametrize("masked", [False, True])
def test_encoder(options: dict[str, Any], masked: bool) -> None:
    layer, reference_layer = build_pair("TransformerEncoderLayer", FEATURES, HEADS, 7, dropout=0.0, **options)
    module = nn.TransformerEncoder(layer, 2, nn.LayerNorm(FEATURES).double())
    reference = torch.nn.TransformerEncoder(
        reference_layer, 2, torch.nn.LayerNorm(FEATURES).double(), enable_nested_tensor=False
    )
    assert list(module.state_dict()) == list(reference.state_dict())
    batch_first = options.get("batch_first", False)
    (given,) = tensors(LENGTH, batched=True, batch_first=batch_first, features=(FEATURES,))
    masks = {"mask": causal(LENGTH), "is_causal": True} if masked else {}
    expected = reference(given, **masks)
    copied = to_raxis(given)
    actual = module(copied, **to_raxis(masks))
    assert_same(actual, expected)
    expected.sum().backward()
    actual.sum().backward()
    assert_same(copied.grad, given.grad)
    assert_same_gradients(module, reference)


@pytest.mark.parametrize("options", LAYER_OPTIONS, ids=str)
def test_decoder(options: dict[str, Any]) -> None:
    layer, reference_layer = build_pair("TransformerDecoderLayer", FEATURES, HEADS, 7, dropout=0.0, **options)
    module, reference = nn.TransformerDecoder(layer, 2), torch.nn.TransformerDecoder(reference_layer, 2)
    assert list(module.state_dict()) == list(reference.state_dict())
    batch_first = options.get("batch_first", False)
    given, memory = tensors(LENGTH, KEYS, batched=True, batch_first=batch_first, features=(FEATURES,) * 2)
    masks = {"tgt_mask": causal(LENGTH), "memory_key_padding_mask": MASKS["padding"]["key_padding_mask"]}
    expected = reference(given, memory, **masks)
    actual = module(*to_raxis([given, memory]), **to_raxis(masks))
    assert_same(actual, expected)
    expected.sum().backward()
    actual.sum().backward()
    assert_same_gradients(module, reference)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")
@pytest.mark.parametrize("options", LAYER_OPTIONS, ids=str)
def test_transformer(options: dict[str, Any]) -> None:
    module, reference = build_pair("Transformer", FEATURES, HEADS, 2, 1, 7, dropout=0.0, **options)
    assert list(module.state_dict()) == list(reference.state_dict())
    batch_first = options.get("batch_first", False)
    given = tensors(KEYS, LENGTH, batched=True, batch_first=batch_first, features=(FEATURES,) * 2)
    padding = MASKS["padding"]["key_padding_mask"]
    mask = torch.nn.Transformer.generate_square_subsequent_mask(LENGTH, dtype=torch.float64)
    assert_same(nn.Transformer.generate_square_subsequent_mask(LENGTH, dtype=raxis.float64), mask)
    masks = {"tgt_mask": mask, "src_key_padding_mask": padding, "memory_key_padding_mask": padding}
    copied = to_raxis(given)
    expected = reference(*given, **masks)
    actual = module(*copied, **to_raxis(masks))
    assert_same(actual, expected)
    expected.sum().backward()
    actual.sum().backward()
    for copy, original in zip(copied, given, strict=True):
        assert_same(copy.grad, original.grad)
    assert_same_gradients(module, reference)


def test_transformer_starts_with_glorot_matrices_and_zero_biases() -> None:
    model = nn.Transformer(8, 2, 1, 1, 24)
    bound = (6 / (8 + 24)) ** 0.5
    assert 0.9 * bound < model.encoder.layers[0].linear1.weight.abs().max().item() <= bound
    assert model.encoder.norm.bias.tolist() == [0.0] * 8


def test_transformer_of_given_parts() -> None:
    encoder, decoder = nn.Sequential(), nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 1)
    model = nn.Transformer(4, 2, custom_encoder=encoder, custom_decoder=decoder)
    assert model.encoder is encoder
    assert model.decoder is decoder


@pytest.mark.parametrize(
    ("source", "target", "text"),
    [
        ((5, 3, 4), (6, 2, 4), "batch number"),
        ((5, 3, 4), (6, 3, 5), "feature number"),
        ((5, 3), (6, 4), "feature"),
    ],
)
def test_transformer_refuses(source: tuple[int, ...], target: tuple[int, ...], text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        nn.Transformer(4, 2, 1, 1, 8)(raxis.zeros(source), raxis.zeros(target))


def test_unknown_activation() -> None:
    with pytest.raises(RuntimeError, match="relu/gelu, not swish"):
        nn.TransformerEncoderLayer(4, 2, activation="swish")


def test_layers_of_a_stack_are_copies() -> None:
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2)
    assert encoder.layers[0].linear1.weight is not encoder.layers[1].linear1.weight
