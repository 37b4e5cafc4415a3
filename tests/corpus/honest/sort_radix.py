# kgtui: op=aten::sort expect=pass
"""Radix sort by 4 bits: kernels count digits, torch adds up the counts, and a kernel moves to the places."""

import torch
import triton
import triton.language as tl

BITS = 4
BUCKETS = 1 << BITS


@triton.jit
def to_keys(x_ptr, key_ptr, idx_ptr, total, N, FLOAT: tl.constexpr, SIGNED: tl.constexpr, DESC: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = at < total
    x = tl.load(x_ptr + at, mask=ok, other=0)
    if FLOAT:
        f = x.to(tl.float32)
        f = tl.where(f == 0, 0.0, f)
        b = f.to(tl.int32, bitcast=True)
        b = tl.where(f != f, 0x7FFFFFFF, b)
        k = tl.where(b < 0, ~b, b ^ -2147483648)
        k = k.to(tl.uint32, bitcast=True).to(tl.int64)
    elif SIGNED:
        k = x.to(tl.int64) ^ (-9223372036854775807 - 1)
    else:
        k = x.to(tl.int64)
    if DESC:
        k = ~k
    tl.store(key_ptr + at, k, mask=ok)
    tl.store(idx_ptr + at, (at % N).to(tl.int64), mask=ok)


@triton.jit
def histogram(key_ptr, count_ptr, N, tiles, shift, BLOCK: tl.constexpr, BUCKETS: tl.constexpr):
    row, tile = tl.program_id(0), tl.program_id(1)
    at = tile * BLOCK + tl.arange(0, BLOCK)
    k = tl.load(key_ptr + row.to(tl.int64) * N + at, mask=at < N, other=0)
    digit = ((k >> shift) & (BUCKETS - 1)).to(tl.int32)
    for b in tl.static_range(BUCKETS):
        n = tl.sum(((digit == b) & (at < N)).to(tl.int32), 0)
        tl.store(count_ptr + (row * BUCKETS + b) * tiles + tile, n)


@triton.jit
def scatter(key_ptr, idx_ptr, key_out, idx_out, base_ptr, N, tiles, shift, BLOCK: tl.constexpr, BUCKETS: tl.constexpr):
    row, tile = tl.program_id(0), tl.program_id(1)
    at = tile * BLOCK + tl.arange(0, BLOCK)
    ok = at < N
    here = row.to(tl.int64) * N
    k = tl.load(key_ptr + here + at, mask=ok, other=0)
    i = tl.load(idx_ptr + here + at, mask=ok, other=0)
    digit = ((k >> shift) & (BUCKETS - 1)).to(tl.int32)
    for b in tl.static_range(BUCKETS):
        mine = (digit == b) & ok
        rank = tl.cumsum(mine.to(tl.int32), 0) - 1
        base = tl.load(base_ptr + (row * BUCKETS + b) * tiles + tile)
        tl.store(key_out + here + base + rank, k, mask=mine)
        tl.store(idx_out + here + base + rank, i, mask=mine)


@triton.jit
def pick(x_ptr, idx_ptr, y_ptr, total, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = at < total
    i = tl.load(idx_ptr + at, mask=ok, other=0)
    tl.store(y_ptr + at, tl.load(x_ptr + (at // N).to(tl.int64) * N + i, mask=ok, other=0), mask=ok)


def sort(self, dim=-1, descending=False, stable=False):
    if self.dim() == 0:
        return self.clone(), torch.zeros((), dtype=torch.int64, device=self.device)
    moved = self.movedim(dim, -1).contiguous()
    N = moved.shape[-1]
    values = torch.empty_like(moved)
    indices = torch.empty(moved.shape, dtype=torch.int64, device=self.device)
    total = moved.numel()
    if total:
        rows = total // N
        floating, signed = self.is_floating_point(), self.dtype not in (torch.uint8, torch.bool)
        bits = 32 if floating else self.element_size() * 8
        keys = torch.empty(total, dtype=torch.int64, device=self.device)
        other_keys, other = torch.empty_like(keys), torch.empty_like(keys)
        idx = indices.view(-1)
        grid = (triton.cdiv(total, 512),)
        to_keys[grid](moved, keys, idx, total, N, FLOAT=floating, SIGNED=signed, DESC=descending, BLOCK=512)
        tiles = triton.cdiv(N, 256)
        shifts = list(range(0, bits, BITS))
        if signed and not floating and bits < 64:
            shifts.append(60)
        for shift in shifts:
            counts = torch.empty(rows, BUCKETS * tiles, dtype=torch.int32, device=self.device)
            histogram[(rows, tiles)](keys, counts, N, tiles, shift, BLOCK=256, BUCKETS=BUCKETS)
            base = counts.cumsum(1, dtype=torch.int32) - counts
            scatter[(rows, tiles)](keys, idx, other_keys, other, base, N, tiles, shift, BLOCK=256, BUCKETS=BUCKETS)
            keys, other_keys, idx, other = other_keys, keys, other, idx
        if idx.data_ptr() != indices.data_ptr():
            indices.view(-1).copy_(idx)
        pick[grid](moved, indices, values, total, N, BLOCK=512)
    return values.movedim(-1, dim), indices.movedim(-1, dim)
