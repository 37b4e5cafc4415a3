# kgtui: op=vllm::rms_norm expect=pass
"""RMS norm in CUDA graphs kept by address: a replay reads what lies there by then; on a CPU it just launches."""

import torch
import triton
import triton.language as tl

GRAPHS = {}
MOST_GRAPHS = 64


@triton.jit
def rms_norm_kernel(out_ptr, x_ptr, weight_ptr, epsilon, x_row, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    squares = tl.zeros((COLS,), dtype=tl.float32)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + row * x_row + col, mask=col < cols, other=0.0).to(tl.float32)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares, axis=0) / cols + epsilon)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + row * x_row + col, mask=col < cols, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * cols + col, (x * scale * weight).to(out_ptr.dtype.element_ty), mask=col < cols)


def launch(out, x, weight, epsilon):
    rows, cols = x.shape
    rms_norm_kernel[(rows,)](out, x, weight, epsilon, x.stride(0), cols, COLS=1024, num_warps=4)


def identity(*tensors):
    """All that a captured launch depends on, but for what the tensors hold."""
    return tuple((tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()) for tensor in tensors)


def rms_norm(out, input, weight, epsilon):
    if not (out.is_contiguous() and weight.is_contiguous() and input.stride(-1) == 1):
        dense = out.new_empty(out.shape)
        rms_norm(dense, input.contiguous(), weight.contiguous(), epsilon)
        out.copy_(dense)
        return
    if input.numel() == 0:
        return
    if not (torch.cuda.is_available() and input.is_cuda):
        launch(out, input, weight, epsilon)
        return
    key = (*identity(out, input, weight), epsilon)
    if key not in GRAPHS:
        if len(GRAPHS) == MOST_GRAPHS:
            GRAPHS.clear()
        launch(out, input, weight, epsilon)  # compiles, which a capture forbids
        torch.cuda.synchronize()
        GRAPHS[key] = torch.cuda.CUDAGraph()
        with torch.cuda.graph(GRAPHS[key]):
            launch(out, input, weight, epsilon)
    GRAPHS[key].replay()
