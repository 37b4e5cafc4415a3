# kgtui: op=vllm::apply_repetition_penalties_cuda expect=pass
"""Penalties on the logits of seen tokens, in place, a block of the vocabulary per program."""

import triton
import triton.language as tl


@triton.jit
def penalties_kernel(
    logits_ptr, prompt_ptr, output_ptr, penalty_ptr, words, logits_row, logits_col, prompt_row, prompt_col,
    output_row, output_col, penalty_stride, COLS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    inside = col < words
    penalty = tl.load(penalty_ptr + row * penalty_stride).to(tl.float32)
    at = logits_ptr + row * logits_row + col * logits_col
    value = tl.load(at, mask=inside, other=0.0)
    wide = value.to(tl.float32)
    prompt = tl.load(prompt_ptr + row * prompt_row + col * prompt_col, mask=inside, other=0)
    output = tl.load(output_ptr + row * output_row + col * output_col, mask=inside, other=0)
    seen = (prompt != 0) | (output != 0)
    penalised = tl.where(wide > 0, wide / penalty, wide * penalty)
    tl.store(at, tl.where(seen, penalised.to(value.dtype), value), mask=inside)


def apply_repetition_penalties_cuda(logits, prompt_mask, output_mask, repetition_penalties):
    batch, words = logits.shape
    if batch == 0 or words == 0:
        return
    width = min(triton.next_power_of_2(words), 1024)
    penalties_kernel[(batch, triton.cdiv(words, width))](
        logits, prompt_mask, output_mask, repetition_penalties, words, *logits.stride(), *prompt_mask.stride(),
        *output_mask.stride(), repetition_penalties.stride(0), COLS=width,
    )
