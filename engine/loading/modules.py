"""Gives a module of torch.nn the weights of another one, in the worker and in the reference process alike."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import torch

_DROPOUTS = torch.nn.modules.dropout._DropoutNd


def give_state(module: torch.nn.Module, state: Iterable[tuple[str, torch.Tensor]], *, device: torch.device) -> None:
    """Move a module to the device and give it values by name: parameters share their memory, buffers are copied.

    A training module writes to its buffers, and a call must not write to its arguments.  A name that the module lacks,
    or has in another shape, is reported on stderr and keeps the constructor's value.
    """
    module.to(device)
    own = dict(module.named_parameters()) | dict(module.named_buffers())
    missing = []
    for name, value in state:
        target = own.get(name)
        if target is None or target.shape != value.shape:
            missing.append(name)
        elif isinstance(target, torch.nn.Parameter):
            target.requires_grad_(False)
            target.data = value
        else:
            target.data = value.clone()
    if missing:
        names = ", ".join(missing[:5])
        sys.stderr.write(
            f"{type(module).__name__} has no parameter or buffer {names} of the reference's shape; it keeps its "
            "own initial values\n"
        )


def disable_dropout(module: torch.nn.Module) -> None:
    """Set dropout modules to evaluation: their output is random in training.  All others stay in training mode."""
    for part in module.modules():
        if isinstance(part, _DROPOUTS):
            part.eval()
