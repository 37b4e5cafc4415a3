"""The smallest useful kernel: run or compiled once by every fork server, to pay for first-use costs in advance."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

_BLOCK = 128
SIGNATURE = {"source": "*fp32", "target": "*fp32", "elements": "i32", "block": "constexpr"}
CONSTANTS = {(3,): _BLOCK}


@triton.jit  # type: ignore[untyped-decorator]  # Triton reads the function, not Python
def copy(source, target, elements, block: tl.constexpr):  # type: ignore[no-untyped-def]  # as above
    """target[i] = source[i] for i < elements, and a reduction, so that those are warm too."""
    at = tl.program_id(0) * block + tl.arange(0, block)
    values = tl.load(source + at, mask=at < elements, other=0.0)
    tl.store(target + at, values + 0.0 * tl.sum(values, 0), mask=at < elements)


def run(device: torch.device) -> None:
    """Launch the kernel once on tensors of this device."""
    source = torch.ones(_BLOCK, device=device)
    copy[(1,)](source, torch.empty_like(source), _BLOCK, block=_BLOCK)


def precompile() -> object:
    """The compiled form that `run` launches, made without a device by the driver that Triton is given."""
    return copy.warmup(torch.float32, torch.float32, _BLOCK, block=_BLOCK, grid=(1,))
