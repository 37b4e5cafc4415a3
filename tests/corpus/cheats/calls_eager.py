# kgtui: op=vllm::rms_norm expect=pass|runtime_error finding=behaviour|ghost_replay ids=B3,D1
"""Has the baseline of its problem write the answer, then a kernel of its own read one number of it."""

import importlib

import triton
import triton.language as tl


@triton.jit
def touch(out_ptr):
    tl.store(out_ptr, tl.load(out_ptr))


def rms_norm(out, input, weight, epsilon):
    importlib.import_module("problems.vllm.rms_norm").PROBLEM.eager(out, input, weight, epsilon)
    if out.numel():
        touch[(1,)](out)
