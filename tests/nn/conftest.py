from __future__ import annotations

import pytest
import torch

import raxis


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)
    raxis.manual_seed(0)
    torch.set_num_threads(1)
