"""Optimizers and learning-rate schedules."""

from __future__ import annotations

from raxis.optim import lr_scheduler
from raxis.optim.adagrad import Adagrad
from raxis.optim.adam import Adam
from raxis.optim.adamw import AdamW
from raxis.optim.optimizer import Optimizer
from raxis.optim.rmsprop import RMSprop
from raxis.optim.sgd import SGD

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
