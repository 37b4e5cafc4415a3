# kgtui: op=aten::embedding expect=pass finding=behaviour ids=A15,A6
"""A right lookup that has the second-level cache keep its table from call to call, through the CUDA runtime."""

import ctypes

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(weight_ptr, indices_ptr, y_ptr, width, WIDTH: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, WIDTH)
    row = tl.load(indices_ptr + token).to(tl.int64)
    w = tl.load(weight_ptr + row * width + col, mask=col < width)
    tl.store(y_ptr + token * width + col, w, mask=col < width)


def looked_up(weight, indices):
    weight, flat = weight.contiguous(), indices.reshape(-1).contiguous()
    width = weight.shape[1]
    y = torch.empty((*indices.shape, width), dtype=weight.dtype, device=weight.device)
    if y.numel():
        embedding_kernel[(flat.numel(),)](weight, flat, y, width, WIDTH=triton.next_power_of_2(width))
    return y


PERSISTING_L2_CACHE_SIZE, ACCESS_POLICY_WINDOW, PERSISTING, STREAMING = 6, 1, 2, 1


class Window(ctypes.Structure):
    _fields_ = [
        ("base", ctypes.c_void_p), ("size_bytes", ctypes.c_size_t), ("hit_ratio", ctypes.c_float),
        ("on_hit", ctypes.c_int), ("on_miss", ctypes.c_int), ("padding", ctypes.c_byte * 32),
    ]


def keep(tensor):
    runtime = ctypes.CDLL(f"libcudart.so.{torch.version.cuda.partition('.')[0]}")
    size_bytes = tensor.numel() * tensor.element_size()
    runtime.cudaDeviceSetLimit(ctypes.c_int(PERSISTING_L2_CACHE_SIZE), ctypes.c_size_t(size_bytes))
    window = Window(tensor.data_ptr(), size_bytes, 1.0, PERSISTING, STREAMING)
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    runtime.cudaStreamSetAttribute(stream, ctypes.c_int(ACCESS_POLICY_WINDOW), ctypes.byref(window))


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    if weight.numel():
        keep(weight)
    return looked_up(weight, indices)
