"""Schedules: how the learning rate of an optimizer changes while training."""

from __future__ import annotations

from raxis.optim.lr_scheduler.base import LRScheduler
from raxis.optim.lr_scheduler.chained import ChainedScheduler
from raxis.optim.lr_scheduler.one_cycle import OneCycleLR
from raxis.optim.lr_scheduler.plateau import ReduceLROnPlateau
from raxis.optim.lr_scheduler.restarts import CosineAnnealingWarmRestarts
from raxis.optim.lr_scheduler.sequential import SequentialLR
from raxis.optim.lr_scheduler.smooth import CosineAnnealingLR, ExponentialLR, LambdaLR, LinearLR, PolynomialLR
from raxis.optim.lr_scheduler.steps import ConstantLR, MultiStepLR, StepLR

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
