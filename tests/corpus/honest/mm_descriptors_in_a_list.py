# kgtui: op=aten::mm expect=pass
"""Product through descriptors made in a comprehension, whose blocks the pre_hook of a configuration sets."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def _set_block_size_hook(nargs):
    BM, BN, BK = nargs["BM"], nargs["BN"], nargs["BK"]
    nargs["a_desc"].block_shape = [BM, BK]
    nargs["b_desc"].block_shape = [BK, BN]
    nargs["c_desc"].block_shape = [BM, BN]


@triton.autotune(
    configs=[triton.Config({"BM": m, "BN": n, "BK": 32, "GROUP_SIZE_M": 8}, num_stages=s, num_warps=w,
                           pre_hook=_set_block_size_hook)
             for m in (32, 64) for n in (32, 64) for s in (2, 3) for w in (4, 8)],
    key=["M", "N", "K"],
)
@triton.jit
def matmul_kernel_tma(a_desc, b_desc, c_desc, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                      GROUP_SIZE_M: tl.constexpr):  # fmt: skip
    dtype = c_desc.dtype
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BM)
    num_pid_n = tl.cdiv(N, BN)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + (pid % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(tl.cdiv(K, BK)):
        a = a_desc.load([pid_m * BM, k * BK])
        b = b_desc.load([k * BK, pid_n * BN])
        acc = tl.dot(a, b, acc, input_precision="ieee")
    c_desc.store([pid_m * BM, pid_n * BN], acc.to(dtype))


def _aligned(x):
    pitch = x.stride(0) * x.element_size()
    if x.stride(1) == 1 and pitch % 16 == 0 and x.data_ptr() % 16 == 0 and x.stride(0) >= x.shape[1]:
        return x
    width = triton.cdiv(x.shape[1], 16) * 16
    buf = torch.zeros((x.shape[0], width), dtype=x.dtype, device=x.device)
    buf[:, : x.shape[1]].copy_(x)
    return buf[:, : x.shape[1]]


def mm(self, mat2):
    M, K = self.shape
    N = mat2.shape[1]
    # Whole rows, the last one too: a device stores a tile in units of 16 bytes.
    c = torch.empty((M, triton.cdiv(N, 16) * 16), dtype=self.dtype, device=self.device)[:, :N]
    if M == 0 or N == 0 or K == 0:
        return c.fill_(0)
    a, b = _aligned(self), _aligned(mat2)
    dummy = [1, 1]
    descs = [TensorDescriptor(t, t.shape, t.stride(), dummy) for t in (a, b, c)]

    def grid(META):
        return (triton.cdiv(M, META["BM"]) * triton.cdiv(N, META["BN"]),)

    matmul_kernel_tma[grid](*descs, M, N, K)
    return c
