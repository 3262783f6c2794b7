"""Two classifiers of small grey images."""

from __future__ import annotations

from raxis import Tensor, nn


class MLP(nn.Module):
    """Two linear layers on the pixels: it has no notion of where a pixel is."""

    def __init__(self, size: tuple[int, int], classes: int, hidden: int = 128) -> None:
        super().__init__()
        height, width = size
        self.layers = nn.Sequential(
            nn.Flatten(),
            nn.Linear(height * width, hidden),
            nn.ReLU(),
            nn.Dropout(0.2),
            nn.Linear(hidden, classes),
        )

    def forward(self, images: Tensor) -> Tensor:
        """Scores of shape (batch, classes) for images of shape (batch, 1, height, width)."""
        return self.layers(images)


class CNN(nn.Module):
    """Two convolutions that look at neighbourhoods of pixels, each followed by pooling, and a linear layer."""

    def __init__(self, size: tuple[int, int], classes: int, channels: int = 16) -> None:
        super().__init__()
        height, width = size
        self.features = nn.Sequential(
            nn.Conv2d(1, channels, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(channels, 2 * channels, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(),
            nn.Dropout(0.2),
            nn.Linear(2 * channels * (height // 4) * (width // 4), classes),
        )

    def forward(self, images: Tensor) -> Tensor:
        """Scores of shape (batch, classes) for images of shape (batch, 1, height, width)."""
        return self.classifier(self.features(images))


MODELS: dict[str, type[MLP] | type[CNN]] = {"MLP": MLP, "CNN": CNN}
"""The classifiers by name."""
