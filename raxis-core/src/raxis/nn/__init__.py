"""Neural networks: layers, losses, parameters, and their starting values."""

from __future__ import annotations

from raxis.nn import functional, init, modules, utils
from raxis.nn.modules import *
from raxis.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
