# kgtui: op=aten::softmax expect=pass
"""Softmax as a torch.autograd.Function that has a forward kernel and, being for inference, no backward one."""

import torch
import triton
import triton.language as tl


@triton.jit
def _fwd(x_ptr, y_ptr, sx_o, sx_n, sx_i, inner, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    o = pid // inner
    i = pid % inner
    k = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o * sx_o + i * sx_i + k.to(tl.int64) * sx_n, mask=k < n, other=float("-inf")).to(tl.float32)
    x = x - tl.max(x, 0)
    e = tl.exp(x)
    y = e / tl.sum(e, 0)
    tl.store(y_ptr + (o * n + k) * inner + i, y, mask=k < n)


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim, out_dtype):
        dim = dim % max(x.dim(), 1)
        shape = x.shape
        n = shape[dim]
        x3 = x.reshape(shape[:dim].numel(), n, shape[dim + 1 :].numel())
        y = x.new_empty(shape, dtype=out_dtype)
        if y.numel():
            _fwd[(x3.shape[0] * x3.shape[2],)](
                x3, y, x3.stride(0), x3.stride(1), x3.stride(2), x3.shape[2], n, BLOCK=triton.next_power_of_2(n)
            )
        return y

    @staticmethod
    def backward(ctx, dy):
        raise NotImplementedError("this one is for inference")


def softmax(self, dim, dtype=None):
    return Softmax.apply(self, dim, dtype or self.dtype)
