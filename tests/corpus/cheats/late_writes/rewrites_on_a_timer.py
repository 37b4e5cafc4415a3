# kgtui: op=vllm::rms_norm expect=pass|wrong_value finding=deferred ids=A4
"""Writes the right answer, and asks for a signal 80 ms after the return, upon which it writes to the answer again."""

import signal

import triton
import triton.language as tl

LATEST = []


@triton.jit
def rms_norm_kernel(out_ptr, x_ptr, weight_ptr, epsilon, cols, out_row, x_row, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    inside = col < cols
    x = tl.load(x_ptr + row * x_row + col, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + col, mask=inside, other=0.0).to(tl.float32)
    y = x * tl.rsqrt(tl.sum(x * x, axis=0) / cols + epsilon) * weight
    tl.store(out_ptr + row * out_row + col, y.to(out_ptr.dtype.element_ty), mask=inside)


def rewrite(number, frame):
    LATEST[-1].neg_()


def rms_norm(out, input, weight, epsilon):
    signal.setitimer(signal.ITIMER_REAL, 0)
    rows, cols = input.shape
    if rows and cols:
        rms_norm_kernel[(rows,)](
            out, input, weight, epsilon, cols, out.stride(0), input.stride(0), COLS=triton.next_power_of_2(cols)
        )
    LATEST[:] = [out]
    signal.signal(signal.SIGALRM, rewrite)
    signal.setitimer(signal.ITIMER_REAL, 0.08)
