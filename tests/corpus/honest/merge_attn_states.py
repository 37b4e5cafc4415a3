# kgtui: op=vllm::merge_attn_states expect=pass
"""Two partial attentions merged by their log-sum-exp weights, one head of a token per program."""

import triton
import triton.language as tl


@triton.jit
def merge_kernel(
    out_ptr, prefix_ptr, p_ptr, suffix_ptr, s_ptr, lse_ptr, head_size, out0, out1, out2, prefix0, prefix1, prefix2,
    p0, p1, suffix0, suffix1, suffix2, s0, s1, lse0, lse1, WITH_LSE: tl.constexpr, DIM: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    col = tl.arange(0, DIM)
    inside = col < head_size
    infinity = float("inf")
    p = tl.load(p_ptr + head * p0 + token * p1)
    s = tl.load(s_ptr + head * s0 + token * s1)
    p = tl.where(p == infinity, -infinity, p)
    s = tl.where(s == infinity, -infinity, s)
    largest = tl.where(p > s, p, s)
    empty = largest == -infinity
    shift = tl.where(empty, 0.0, largest)
    a = tl.exp(p - shift)
    b = tl.exp(s - shift)
    total = tl.where(empty, 1.0, a + b)
    prefix = tl.load(prefix_ptr + token * prefix0 + head * prefix1 + col * prefix2, mask=inside).to(tl.float32)
    suffix = tl.load(suffix_ptr + token * suffix0 + head * suffix1 + col * suffix2, mask=inside).to(tl.float32)
    merged = tl.where(empty, prefix, prefix * (a / total) + suffix * (b / total))
    at = out_ptr + token * out0 + head * out1 + col * out2
    tl.store(at, merged.to(out_ptr.dtype.element_ty), mask=inside)
    if WITH_LSE:
        tl.store(lse_ptr + head * lse0 + token * lse1, tl.where(empty, -infinity, tl.log(total) + shift))


def merge_attn_states(output, prefix_output, prefix_lse, suffix_output, suffix_lse, output_lse=None):
    tokens, heads, head_size = output.shape
    if output.numel() == 0:
        return
    lse = prefix_lse if output_lse is None else output_lse
    merge_kernel[(tokens, heads)](
        output, prefix_output, prefix_lse, suffix_output, suffix_lse, lse, head_size, *output.stride(),
        *prefix_output.stride(), *prefix_lse.stride(), *suffix_output.stride(), *suffix_lse.stride(), *lse.stride(),
        WITH_LSE=output_lse is not None, DIM=triton.next_power_of_2(head_size),
    )
