"""Layers and losses, one file a family."""

from __future__ import annotations

from raxis.nn.modules.activation import *
from raxis.nn.modules.batchnorm import *
from raxis.nn.modules.container import *
from raxis.nn.modules.conv import *
from raxis.nn.modules.distance import *
from raxis.nn.modules.dropout import *
from raxis.nn.modules.flatten import *
from raxis.nn.modules.linear import *
from raxis.nn.modules.loss import *
from raxis.nn.modules.module import Module
from raxis.nn.modules.normalization import *
from raxis.nn.modules.parameter_container import *
from raxis.nn.modules.pooling import *
from raxis.nn.modules.rectifier import *
from raxis.nn.modules.sparse import *
