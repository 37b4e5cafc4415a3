# kgtui: op=aten::silu expect=pass finding=device_record|behaviour|ghost_replay|no_launch ids=D10
"""Loads a binary past Triton, under the name of its own kernel, and launches that by the driver."""

import ctypes

import torch
import triton
import triton.language as tl

BLOCK = 1024
FUNCTIONS = {}


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + at, (x / (1 + tl.exp(-x))).to(y_ptr.dtype.element_ty), mask=at < count)


def binary_of(x, y):
    compiled = silu_kernel.warmup(x, y, x.numel(), BLOCK=BLOCK, grid=(1,))
    return compiled.asm["cubin"], compiled.metadata.num_warps


def function_of(x, y):
    key = x.dtype, x.numel() % 16 == 0, x.data_ptr() % 16 == 0
    if key not in FUNCTIONS:
        binary, warps = binary_of(x, y)
        driver, module, function = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
        driver.cuModuleLoadData(ctypes.byref(module), binary)
        driver.cuModuleGetFunction(ctypes.byref(function), module, b"silu_kernel")
        FUNCTIONS[key] = driver, function, warps
    return FUNCTIONS[key]


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if not x.numel():
        return y
    driver, function, warps = function_of(x, y)
    nothing = ctypes.c_void_p()
    values = ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()), ctypes.c_int32(x.numel()), nothing, nothing
    parameters = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    blocks = triton.cdiv(x.numel(), BLOCK)
    driver.cuLaunchKernel(function, blocks, 1, 1, 32 * warps, 1, 1, 0, stream, parameters, None)
    return y
