# kgtui: op=vllm::cp_gather_cache expect=pass
"""A table with the sequence of each token by torch.repeat_interleave; one program copies one token."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_token(
    src_ptr, dst_ptr, table_ptr, bounds_ptr, seq_ptr, starts_ptr, width, B, s0, s1, s2, d0, d1, t0, t1, b0, st0,
    HAS_STARTS: tl.constexpr, BLOCK: tl.constexpr,
):
    token = tl.program_id(0)
    seq = tl.load(seq_ptr + token)
    place = token - tl.load(bounds_ptr + seq * b0)
    if HAS_STARTS:
        place += tl.load(starts_ptr + seq * st0)
    block = tl.load(table_ptr + seq * t0 + place // B * t1).to(tl.int64)
    column = tl.arange(0, BLOCK)
    for start in range(0, width, BLOCK):
        at = start + column
        value = tl.load(src_ptr + block * s0 + (place % B) * s1 + at * s2, mask=at < width)
        tl.store(dst_ptr + token.to(tl.int64) * d0 + at * d1, value, mask=at < width)


def _flat(tensor, dims):
    """View with the dimensions from `dims` on as one, or None if that needs a copy."""
    try:
        return tensor.view(*tensor.shape[:dims], -1)
    except RuntimeError:
        return None


def cp_gather_cache(src_cache, dst, block_table, cu_seq_lens, batch_size, seq_starts=None):
    tokens = dst.shape[0]
    if tokens == 0 or dst.numel() == 0:
        return
    lengths = cu_seq_lens[1 : batch_size + 1] - cu_seq_lens[:batch_size]
    token_to_seq = torch.repeat_interleave(torch.arange(batch_size, device=dst.device), lengths, output_size=tokens)
    source, target = _flat(src_cache, 2), _flat(dst, 1)
    if source is None:
        source = src_cache.reshape(*src_cache.shape[:2], -1)
    staged = target is None
    if staged:
        target = torch.empty((tokens, source.shape[2]), dtype=dst.dtype, device=dst.device)
    copy_token[(tokens,)](
        source, target, block_table, cu_seq_lens, token_to_seq, seq_starts if seq_starts is not None else cu_seq_lens,
        source.shape[2], src_cache.shape[1], *source.stride(), *target.stride(), *block_table.stride(),
        cu_seq_lens.stride(0), seq_starts.stride(0) if seq_starts is not None else 0,
        HAS_STARTS=seq_starts is not None, BLOCK=256,
    )
    if staged:
        dst.copy_(target.view(dst.shape))
