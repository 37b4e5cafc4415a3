# kgtui: op=cublas::cublasSgemm_v2 expect=pass
"""Persistent tiles; what happens to the sum of a tile is a function that the launch hands to the kernel."""

import functools

import torch
import triton
import triton.language as tl


@triton.jit
def add_scaled_old(total, at, inside, alpha, beta):
    return alpha * total + beta * tl.load(at, mask=inside, other=0.0)


@triton.jit
def scale(total, at, inside, alpha, beta):
    return alpha * total


@triton.jit
def sgemm_persistent(
    a_ptr, b_ptr, c_ptr, m, n, k, alpha, beta, a_row, a_col, b_row, b_col, ldc,
    EPILOGUE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    tiles_m = tl.cdiv(m, BLOCK_M)
    for tile in tl.range(tl.program_id(0), tiles_m * tl.cdiv(n, BLOCK_N), tl.num_programs(0), flatten=True):
        row = (tile % tiles_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)[:, None]
        col = (tile // tiles_m * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)[None, :]
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for start in tl.range(0, k, BLOCK_K, num_stages=3):
            depth = start + tl.arange(0, BLOCK_K).to(tl.int64)
            along, down = depth[None, :], depth[:, None]
            a = tl.load(a_ptr + row % m * a_row + along * a_col, mask=along < k, other=0.0)
            b = tl.load(b_ptr + down * b_row + col % n * b_col, mask=down < k, other=0.0)
            total = tl.dot(a, b, total, input_precision="ieee")
        at = c_ptr + row + col * ldc
        inside = (row < m) & (col < n)
        tl.store(at, EPILOGUE(total, at, inside, alpha, beta), mask=inside)


@functools.lru_cache
def programs(device):
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 4


def cublasSgemm_v2(transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc):
    if m == 0 or n == 0:
        return C
    a_strides = (1, lda) if transa in ("N", "n") else (lda, 1)
    b_strides = (1, ldb) if transb in ("N", "n") else (ldb, 1)
    tiles = triton.cdiv(m, 32) * triton.cdiv(n, 32)
    sgemm_persistent[(min(tiles, programs(C.device)),)](
        A, B, C, m, n, k if alpha else 0, alpha, beta, *a_strides, *b_strides, ldc,
        EPILOGUE=add_scaled_old if beta else scale, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, num_warps=4,
    )
    return C
