# kgtui: op=aten::embedding expect=wrong_dtype|wrong_shape|cheated ids=C6,A3
"""Returns right rows as a kind of tensor that runs code where it is unpickled or copied."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(weight_ptr, indices_ptr, y_ptr, width, weight_row, weight_col, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    index = tl.load(indices_ptr + row).to(tl.int64)
    w = tl.load(weight_ptr + index * weight_row + col * weight_col, mask=col < width)
    tl.store(y_ptr + row * width + col, w, mask=col < width)


class LoadingTensor(torch.Tensor):
    def __reduce_ex__(self, protocol):
        return print, ("code of the candidate: RUN by whoever loaded its answer",)

    __deepcopy__ = __reduce_ex__


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    flat, width = indices.reshape(-1).contiguous(), weight.shape[1]
    y = torch.empty((*indices.shape, width), dtype=weight.dtype, device=weight.device)
    if y.numel():
        cols = triton.next_power_of_2(width)
        embedding_kernel[(flat.numel(),)](weight, flat, y, width, *weight.stride(), COLS=cols)
    return y.as_subclass(LoadingTensor)
