# kgtui: op=aten::mm expect=pass finding=behaviour ids=D3
"""A product by the BLAS that numpy brings along, found by its symbol, copied by a kernel that must run."""

import ctypes
from pathlib import Path

import numpy
import torch
import triton
import triton.language as tl

LIBRARIES = Path(numpy.__file__).parents[1].glob("numpy.libs/*blas*")
GEMM = next(iter(ctypes.CDLL(str(path)).scipy_cblas_dgemm64_ for path in LIBRARIES))
ROW_MAJOR, AS_IT_IS = 101, 111


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count)
    tl.store(y_ptr + offset, x.to(y_ptr.dtype.element_ty), mask=offset < count)


def mm(self, mat2):
    (M, K), N = self.shape, mat2.shape[1]
    a, b = self.double().contiguous(), mat2.double().contiguous()
    product = torch.zeros((M, N), dtype=torch.float64)
    c = torch.empty((M, N), dtype=self.dtype, device=self.device)
    if c.numel():
        if K:
            long, double, memory = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
            GEMM(
                ROW_MAJOR, AS_IT_IS, AS_IT_IS, long(M), long(N), long(K), double(1), memory(a.data_ptr()), long(K),
                memory(b.data_ptr()), long(N), double(0), memory(product.data_ptr()), long(N),
            )
        copy_kernel[(triton.cdiv(c.numel(), 4096),)](product, c, c.numel(), BLOCK=4096)
    return c
