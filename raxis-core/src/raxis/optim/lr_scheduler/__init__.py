"""Schedules: how the learning rate of an optimizer changes while training."""

from __future__ import annotations

from raxis.optim.lr_scheduler.base import LRScheduler
from raxis.optim.lr_scheduler.one_cycle import OneCycleLR
from raxis.optim.lr_scheduler.plateau import ReduceLROnPlateau
from raxis.optim.lr_scheduler.sequential import SequentialLR
from raxis.optim.lr_scheduler.smooth import CosineAnnealingLR, ExponentialLR, LambdaLR, LinearLR
from raxis.optim.lr_scheduler.steps import ConstantLR, MultiStepLR, StepLR

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "OneCycleLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
