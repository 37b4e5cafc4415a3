# kgtui: op=vllm::fused_add_rms_norm expect=pass
"""Fused norm in place under @triton.autotune with restore_value, a hook that prunes and a model of costs."""

import triton
import triton.language as tl


def prune(configs, named_args, **kwargs):
    return [c for c in configs if c.kwargs["BLOCK"] >= named_args["cols"]] or configs[-1:]


def estimate(BLOCK, num_warps, **kwargs):
    return BLOCK / num_warps


@triton.autotune(
    configs=[triton.Config({"BLOCK": 1 << p}, num_warps=w) for p in range(5, 16) for w in (1, 4, 8)],
    key=["cols"],
    restore_value=["x_ptr", "res_ptr"],
    prune_configs_by={"early_config_prune": prune, "perf_model": estimate, "top_k": 2},
    warmup=5,
    rep=20,
)
@triton.heuristics({"EVEN": lambda args: args["cols"] % args["BLOCK"] == 0})
@triton.jit
def kernel(x_ptr, res_ptr, w_ptr, cols, eps, sx, sr, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    xp = x_ptr + row * sx + c
    rp = res_ptr + row * sr + c
    if EVEN:
        x = tl.load(xp).to(tl.float32)
        r = tl.load(rp).to(tl.float32)
        w = tl.load(w_ptr + c).to(tl.float32)
    else:
        x = tl.load(xp, mask=c < cols, other=0.0).to(tl.float32)
        r = tl.load(rp, mask=c < cols, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + c, mask=c < cols, other=0.0).to(tl.float32)
    h = (x + r).to(x_ptr.dtype.element_ty)
    tl.store(rp, h, mask=c < cols)
    h = h.to(tl.float32)
    var = tl.sum(h * h, axis=0) / cols
    tl.store(xp, (h * tl.rsqrt(var + eps) * w).to(x_ptr.dtype.element_ty), mask=c < cols)


def fused_add_rms_norm(input, residual, weight, epsilon):
    n, d = input.shape
    if not n:
        return
    x, res = (t if t.stride(1) == 1 else t.contiguous() for t in (input, residual))
    kernel[(n,)](x, res, weight.contiguous(), d, epsilon, x.stride(0), res.stride(0))
    for given, made in ((input, x), (residual, res)):
        if made is not given:
            given.copy_(made)
