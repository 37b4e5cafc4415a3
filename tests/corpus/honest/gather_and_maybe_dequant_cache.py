# kgtui: op=vllm::gather_and_maybe_dequant_cache expect=pass
"""Latent entries gathered token by token; fp8 codes are decoded by their bits and scaled in float32."""

import triton
import triton.language as tl


@triton.jit
def e4m3_value(code):
    bits = code.to(tl.int32)
    exponent = (bits >> 3) & 15
    mantissa = (bits & 7).to(tl.float32)
    size = tl.where(exponent == 0, mantissa * 0.001953125, (1.0 + mantissa / 8) * tl.exp2((exponent - 7).to(tl.float32)))
    size = tl.where((bits & 127) == 127, float("nan"), size)
    return tl.where(bits >= 128, -size, size)


@triton.jit
def gather_kernel(
    src_ptr, dst_ptr, table_ptr, bounds_ptr, owner_ptr, scale_ptr, starts_ptr, block_size, width, src0, src1, src3,
    dst0, dst2, table0, table1, bounds_stride, owner_stride, starts_stride, FP8: tl.constexpr, WITH_STARTS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    token = tl.program_id(0)
    sequence = tl.load(owner_ptr + token * owner_stride)
    position = token - tl.load(bounds_ptr + sequence * bounds_stride)
    if WITH_STARTS:
        position += tl.load(starts_ptr + sequence * starts_stride)
    block = tl.load(table_ptr + sequence * table0 + position // block_size * table1).to(tl.int64)
    col = tl.arange(0, WIDTH)
    value = tl.load(src_ptr + block * src0 + position % block_size * src1 + col * src3, mask=col < width)
    if FP8:
        value = (e4m3_value(value) * tl.load(scale_ptr)).to(dst_ptr.dtype.element_ty)
    tl.store(dst_ptr + token.to(tl.int64) * dst0 + col * dst2, value, mask=col < width)


def gather_and_maybe_dequant_cache(
    src_cache, dst, block_table, cu_seq_lens, token_to_seq, num_tokens, kv_cache_dtype, scale, seq_starts=None
):
    if num_tokens == 0:
        return
    width = dst.shape[2]
    starts = cu_seq_lens if seq_starts is None else seq_starts
    src0, src1, _, src3 = src_cache.stride()
    gather_kernel[(num_tokens,)](
        src_cache, dst, block_table, cu_seq_lens, token_to_seq, scale, starts, src_cache.shape[1], width, src0, src1,
        src3, dst.stride(0), dst.stride(2), *block_table.stride(), cu_seq_lens.stride(0), token_to_seq.stride(0),
        starts.stride(0), FP8=kv_cache_dtype != "auto", WITH_STARTS=seq_starts is not None,
        WIDTH=triton.next_power_of_2(width),
    )
