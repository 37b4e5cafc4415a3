# kgtui: op=vllm::rms_norm expect=timeout ids=C8
"""Its kernel waits for a flag that nobody sets, as two programs that never meet do; gives up after a while."""

import torch
import triton
import triton.language as tl


@triton.jit
def waiting_kernel(flag_ptr, out_ptr, most):
    seen = 0
    turns = 0
    while (seen == 0) & (turns < most):
        seen = tl.load(flag_ptr)
        turns += 1
    tl.store(out_ptr, seen)


def rms_norm(out, input, weight, epsilon):
    if out.numel():
        waiting_kernel[(1,)](torch.zeros(1, dtype=torch.int32, device=out.device), out, 1_000_000)
