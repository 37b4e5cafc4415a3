# kgtui: op=vllm::ggml_moe_a8_vec expect=pass
"""Pairs sorted by expert on the host, as grouped GEMMs do: one program serves a block of pairs of one expert."""

import torch
import triton
import triton.language as tl


@triton.jit
def _weights(w_ptr, base, row, block, row_mask, w_row, w_byte, QUANT: tl.constexpr, ROWS: tl.constexpr):
    """(ROWS, 32) weights of one block of 32 columns, float32."""
    j = tl.arange(0, 32)
    SIZE: tl.constexpr = 34 if QUANT == 8 else (18 if QUANT == 2 else (20 if QUANT == 3 else (22 if QUANT == 6 else 24)))
    OFFSET: tl.constexpr = QUANT == 3 or QUANT == 7
    FIFTH: tl.constexpr = QUANT == 6 or QUANT == 7
    at = w_ptr + base + row.to(tl.int64)[:, None] * w_row + (block * SIZE).to(tl.int64) * w_byte
    mask = row_mask[:, None]
    low = tl.load(at, mask=mask, other=0).to(tl.uint16)
    high = tl.load(at + w_byte, mask=mask, other=0).to(tl.uint16)
    d = (low | (high << 8)).to(tl.float16, bitcast=True).to(tl.float32)
    first: tl.constexpr = 2 + (2 if OFFSET else 0)
    offset = tl.zeros([ROWS, 1], tl.float32)
    if OFFSET:
        low = tl.load(at + 2 * w_byte, mask=mask, other=0).to(tl.uint16)
        high = tl.load(at + 3 * w_byte, mask=mask, other=0).to(tl.uint16)
        offset = (low | (high << 8)).to(tl.float16, bitcast=True).to(tl.float32)
    if QUANT == 8:
        code = tl.load(at + (2 + j)[None, :] * w_byte, mask=mask, other=0).to(tl.int8, bitcast=True).to(tl.float32)
        return code * d
    nibbles: tl.constexpr = first + (4 if FIFTH else 0)
    byte = tl.load(at + (nibbles + j % 16)[None, :] * w_byte, mask=mask, other=0).to(tl.int32)
    code = (byte >> (j // 16 * 4)[None, :]) & 15
    if FIFTH:
        bits = tl.load(at + (first + j // 8)[None, :] * w_byte, mask=mask, other=0).to(tl.int32)
        code += ((bits >> (j % 8)[None, :]) & 1) * 16
    middle: tl.constexpr = 8 if QUANT == 2 else (16 if QUANT == 6 else 0)
    return (code - middle).to(tl.float32) * d + offset


@triton.jit
def grouped_kernel(
    x_ptr, w_ptr, out_ptr, order_ptr, starts_ptr, tile_expert_ptr, tile_first_ptr, columns, rows, top_k,
    x_row, x_col, w_expert, w_row, w_byte, QUANT: tl.constexpr, ROWS: tl.constexpr, PAIRS: tl.constexpr,
):
    tile = tl.program_id(0)
    expert = tl.load(tile_expert_ptr + tile).to(tl.int64)
    first = tl.load(tile_first_ptr + tile)
    end = tl.load(starts_ptr + expert + 1)
    place = first + tl.arange(0, PAIRS)
    inside = place < end
    pair = tl.load(order_ptr + place, mask=inside, other=0).to(tl.int64)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    row_mask = row < rows
    total = tl.zeros([PAIRS, ROWS], tl.float32)
    for block in range(0, columns // 32):
        depth = block * 32 + tl.arange(0, 32)
        x = tl.load(x_ptr + (pair // top_k)[:, None] * x_row + depth[None, :] * x_col, mask=inside[:, None], other=0.0)
        w = _weights(w_ptr, expert * w_expert, row, block, row_mask, w_row, w_byte, QUANT, ROWS)
        total += tl.dot(x.to(tl.float32), tl.trans(w), input_precision="ieee")
    tl.store(
        out_ptr + pair[:, None] * rows + row[None, :], total.to(out_ptr.dtype.element_ty),
        mask=inside[:, None] & row_mask[None, :],
    )


def _tiles(topk_ids, experts, block):
    """Order of the pairs by expert, starts of the experts, and the expert and first place of each tile."""
    flat = topk_ids.reshape(-1)
    order = torch.argsort(flat, stable=True)
    counts = torch.bincount(flat.long(), minlength=experts)
    starts = torch.zeros(experts + 1, dtype=torch.int64, device=flat.device)
    starts[1:] = torch.cumsum(counts, 0)
    tiles = (counts + block - 1) // block
    tile_expert = torch.repeat_interleave(torch.arange(experts, device=flat.device), tiles)
    tile_starts = torch.cumsum(tiles, 0) - tiles
    tile_first = starts[tile_expert] + (torch.arange(tile_expert.numel(), device=flat.device) - tile_starts[tile_expert]) * block
    return order, starts, tile_expert, tile_first


def ggml_moe_a8_vec(X, W, topk_ids, top_k, quant_type, row, tokens):
    out = torch.empty((tokens * top_k, row), dtype=X.dtype, device=X.device)
    if out.numel() == 0:
        return out
    order, starts, tile_expert, tile_first = _tiles(topk_ids, W.shape[0], 16)
    grouped_kernel[(tile_expert.numel(), triton.cdiv(row, 32))](
        X, W, out, order, starts, tile_expert, tile_first, X.shape[1], row, top_k,
        *X.stride(), *W.stride(), QUANT=quant_type, ROWS=32, PAIRS=16,
    )
    return out
