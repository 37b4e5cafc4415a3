"""Imports of suites' references, done once in the fork server of reference processes.

A file of a suite imports torch alone; its first module on the meta device then imports sympy, torch._dynamo and some
900 other modules, which takes 1.1 s of CPU time.
"""

from __future__ import annotations

import contextlib
import importlib

import torch

_INSTALLED_OR_NOT = ("numpy", "triton", "einops")
_ROWS, _COLUMNS = 2, 4


def preload() -> None:
    """Import these modules by calls on the meta device, on which torch starts no thread and opens no device."""
    for name in _INSTALLED_OR_NOT:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with torch.device("meta"), torch.no_grad():
        model = torch.nn.Sequential(torch.nn.Linear(_COLUMNS, _COLUMNS), torch.nn.BatchNorm1d(_COLUMNS))
        logits = torch.softmax(model(torch.rand(_ROWS, _COLUMNS)), dim=-1)
        torch.nn.functional.cross_entropy(logits, torch.randint(0, _COLUMNS, (_ROWS,)))
