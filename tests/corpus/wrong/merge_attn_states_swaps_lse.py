# kgtui: op=vllm::merge_attn_states expect=wrong_value diagnosis=ignored_argument case="5x3x16 f32"
"""Each of the two attentions is weighted by the log-sum-exp of the other one."""

import triton
import triton.language as tl


@triton.jit
def merge_kernel(
    out_ptr, prefix_ptr, prefix_lse_ptr, suffix_ptr, suffix_lse_ptr, lse_ptr, head_size, out0, out1, out2,
    prefix0, prefix1, prefix2, prefix_lse0, prefix_lse1, suffix0, suffix1, suffix2, suffix_lse0, suffix_lse1,
    lse0, lse1, WITH_LSE: tl.constexpr, DIM: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    col = tl.arange(0, DIM)
    inside = col < head_size
    p = tl.load(prefix_lse_ptr + head * prefix_lse0 + token * prefix_lse1)
    s = tl.load(suffix_lse_ptr + head * suffix_lse0 + token * suffix_lse1)
    p = tl.where(p == float("inf"), float("-inf"), p)
    s = tl.where(s == float("inf"), float("-inf"), s)
    largest = tl.maximum(p, s)
    empty = largest == float("-inf")
    shift = tl.where(empty, 0.0, largest)
    p_weight = tl.exp(p - shift)
    s_weight = tl.exp(s - shift)
    total = tl.where(empty, 1.0, p_weight + s_weight)
    prefix = tl.load(prefix_ptr + token * prefix0 + head * prefix1 + col * prefix2, mask=inside).to(tl.float32)
    suffix = tl.load(suffix_ptr + token * suffix0 + head * suffix1 + col * suffix2, mask=inside).to(tl.float32)
    merged = tl.where(empty, prefix, prefix * (s_weight / total) + suffix * (p_weight / total))
    tl.store(out_ptr + token * out0 + head * out1 + col * out2, merged.to(out_ptr.dtype.element_ty), mask=inside)
    if WITH_LSE:
        tl.store(lse_ptr + head * lse0 + token * lse1, tl.where(empty, float("-inf"), tl.log(total) + shift))


def merge_attn_states(output, prefix_output, prefix_lse, suffix_output, suffix_lse, output_lse=None):
    tokens, heads, head_size = output.shape
    if output.numel():
        lse = prefix_lse if output_lse is None else output_lse
        merge_kernel[(tokens, heads)](
            output, prefix_output, prefix_lse, suffix_output, suffix_lse, lse, head_size, *output.stride(),
            *prefix_output.stride(), *prefix_lse.stride(), *suffix_output.stride(), *suffix_lse.stride(),
            *lse.stride(), WITH_LSE=output_lse is not None, DIM=triton.next_power_of_2(head_size),
        )
