# kgtui: op=aten::im2col expect=pass finding=proof ids=D5
"""Torch pads the image and copies every window of it, and a kernel stores one element of the answer where it is."""

import torch
import triton
import triton.language as tl


@triton.jit
def im2col_kernel(y_ptr):
    tl.store(y_ptr, tl.load(y_ptr))


def im2col(self, kernel_size, dilation, padding, stride):
    images = self.reshape(-1, *self.shape[-3:])
    count, channels, height, width = images.shape
    rows, columns = (
        (size + 2 * pad - gap * (length - 1) - 1) // step + 1
        for size, pad, gap, length, step in zip((height, width), padding, dilation, kernel_size, stride)
    )
    padded = torch.zeros(
        (count, channels, height + 2 * padding[0], width + 2 * padding[1]), dtype=self.dtype, device=self.device
    )
    padded[..., padding[0] : padding[0] + height, padding[1] : padding[1] + width].copy_(images)
    image, channel, row, column = padded.stride()
    windows = padded.as_strided(
        (count, channels, *kernel_size, rows, columns),
        (image, channel, dilation[0] * row, dilation[1] * column, stride[0] * row, stride[1] * column),
    )
    y = torch.empty(windows.shape, dtype=self.dtype, device=self.device)
    y.copy_(windows)
    if y.numel():
        im2col_kernel[(1,)](y)
    return y.reshape(*self.shape[:-3], channels * kernel_size[0] * kernel_size[1], rows * columns)
