# kgtui: op=vllm::selective_scan_fwd expect=nonfinite diagnosis=none case="6x10 by 16x8 bf16 large steps"
"""A step is the logarithm of a sum of exponentials without a bound, so that a step above 88 is infinite."""

import triton
import triton.language as tl


@triton.jit
def scan_kernel(
    u_ptr, delta_ptr, a_ptr, b_ptr, c_ptr, d_ptr, z_ptr, bias_ptr, start_ptr, slot_ptr, initial_ptr, memory_ptr,
    states, per_group, pad, u0, u1, delta0, delta1, a0, a1, b0, b1, b2, c0, c1, c2, d0, z0, z1, bias0, start_stride,
    slot_stride, initial_stride, memory0, memory1, memory2, SOFTPLUS: tl.constexpr, WITH_D: tl.constexpr,
    WITH_Z: tl.constexpr, WITH_BIAS: tl.constexpr, STATES: tl.constexpr,
):
    channel = tl.program_id(0).to(tl.int64)
    sequence = tl.program_id(1)
    slot = tl.load(slot_ptr + sequence * slot_stride).to(tl.int64)
    if slot != pad:
        state = tl.arange(0, STATES).to(tl.int64)
        inside = state < states
        group = channel // per_group
        a = tl.load(a_ptr + channel * a0 + state * a1, mask=inside, other=0.0)
        at = memory_ptr + slot * memory0 + channel * memory1 + state * memory2
        h = tl.zeros([STATES], dtype=tl.float32)
        if tl.load(initial_ptr + sequence * initial_stride) != 0:
            h = tl.load(at, mask=inside, other=0.0)
        bias = tl.load(bias_ptr + channel * bias0) if WITH_BIAS else 0.0
        d = tl.load(d_ptr + channel * d0) if WITH_D else 0.0
        start = tl.load(start_ptr + sequence * start_stride)
        end = tl.load(start_ptr + (sequence + 1) * start_stride)
        for number in range(start, end):
            token = number.to(tl.int64)
            step = tl.load(delta_ptr + channel * delta0 + token * delta1).to(tl.float32) + bias
            if SOFTPLUS:
                step = tl.log2(1.0 + tl.exp2(step * 1.4426950408889634)) * 0.6931471805599453
            x = tl.load(u_ptr + channel * u0 + token * u1).to(tl.float32)
            b = tl.load(b_ptr + group * b0 + state * b1 + token * b2, mask=inside, other=0.0).to(tl.float32)
            c = tl.load(c_ptr + group * c0 + state * c1 + token * c2, mask=inside, other=0.0).to(tl.float32)
            h = tl.exp(step * a) * h + step * b * x
            y = tl.sum(tl.where(inside, c * h, 0.0), axis=0)
            if WITH_D:
                y += d * x
            if WITH_Z:
                z = tl.load(z_ptr + channel * z0 + token * z1).to(tl.float32)
                y = y * (z / (1.0 + tl.exp(-z)))
                tl.store(z_ptr + channel * z0 + token * z1, y.to(z_ptr.dtype.element_ty))
            else:
                tl.store(delta_ptr + channel * delta0 + token * delta1, y.to(delta_ptr.dtype.element_ty))
        tl.store(at, h, mask=inside)


def selective_scan_fwd(
    u, delta, A, B, C, D_, z_, delta_bias_, delta_softplus, query_start_loc, cache_indices, has_initial_state, ssm_states,
    pad_slot_id=-1, block_size=1024, block_idx_first_scheduled_token=None, block_idx_last_scheduled_token=None,
    initial_state_idx=None,
):
    channels, states = A.shape
    d, z, bias = (A if D_ is None else D_), (u if z_ is None else z_), (A if delta_bias_ is None else delta_bias_)
    scan_kernel[(channels, cache_indices.shape[0])](
        u, delta, A, B, C, d, z, bias, query_start_loc, cache_indices, has_initial_state, ssm_states, states,
        channels // B.shape[0], pad_slot_id, *u.stride(), *delta.stride(), *A.stride(), *B.stride(), *C.stride(),
        d.stride(0), *z.stride(), bias.stride(0), query_start_loc.stride(0), cache_indices.stride(0),
        has_initial_state.stride(0), *ssm_states.stride(), SOFTPLUS=delta_softplus, WITH_D=D_ is not None,
        WITH_Z=z_ is not None, WITH_BIAS=delta_bias_ is not None, STATES=triton.next_power_of_2(states), num_warps=1,
    )
