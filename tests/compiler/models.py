"""Small models that tests train: a perceptron, a convolutional network and a GPT, all with dropout."""

from __future__ import annotations

import raxis
import raxis.nn.functional as F
from raxis import nn


def mlp(inputs: int = 12, width: int = 16, classes: int = 3) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, classes))


class CNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.second = nn.Conv2d(4, 6, 3)
        self.head = nn.Linear(6 * 2 * 2, 3)

    def forward(self, x: raxis.Tensor) -> raxis.Tensor:
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        x = F.dropout(F.relu(self.second(x)), 0.2, self.training)
        return self.head(F.avg_pool2d(x, 2, 1).flatten(1))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: raxis.Tensor) -> raxis.Tensor:
        batch, length, width = x.shape
        parts = self.attend(self.first(x)).split(width, dim=2)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        x = x + self.dropout(self.project(y.contiguous().view(batch, length, width)))
        return x + self.dropout(self.mlp(self.second(x)))


class GPT(nn.Module):
    """Two blocks; logits of all places of all sequences in one row after another."""

    def __init__(self, words: int = 11, context: int = 8, width: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(words, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, index: raxis.Tensor) -> raxis.Tensor:
        x = self.tokens(index) + self.places(raxis.arange(index.shape[1], device=index.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)).flatten(0, 1)
