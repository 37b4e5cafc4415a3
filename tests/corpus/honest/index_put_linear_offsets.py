# kgtui: op=aten::index_put_ expect=pass
"""Torch makes one offset for each value of indices, masks and strides; kernels write there, or add to a workspace."""

import torch
import triton
import triton.language as tl

WORK = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.bool: torch.int32, torch.uint8: torch.int32,
        torch.int8: torch.int32, torch.int16: torch.int32}


@triton.jit
def put_kernel(y_ptr, place_ptr, values_ptr, count, ADDS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    place = tl.load(place_ptr + at, mask=inside, other=0)
    value = tl.load(values_ptr + at, mask=inside, other=0)
    if ADDS:
        tl.atomic_add(y_ptr + place, value.to(y_ptr.dtype.element_ty), mask=inside)
    else:
        tl.store(y_ptr + place, value, mask=inside)


def coordinates(indices):
    for index in indices:
        if index is not None and index.dtype == torch.bool:
            yield from index.nonzero(as_tuple=True)
        else:
            yield index


def index_put_(self, indices, values, accumulate=False):
    target = self.to(WORK.get(self.dtype, self.dtype)).contiguous() if accumulate else self
    if target is not self and target.data_ptr() == self.data_ptr():
        target = target.clone()
    every = list(coordinates(indices))
    every += [None] * (self.dim() - len(every))
    own = [dim for dim, index in enumerate(every) if index is not None]
    picked = torch.broadcast_tensors(*(every[dim].long() for dim in own))
    together = own == list(range(own[0], own[-1] + 1))
    before = [dim for dim in range(self.dim()) if dim not in own and together and dim < own[0]]
    after = [dim for dim in range(self.dim()) if dim not in own and dim not in before]
    rank = picked[0].dim()
    offset = torch.zeros([1] * (len(before) + rank + len(after)), dtype=torch.int64, device=self.device)
    for dim, index in zip(own, picked):
        step = torch.where(index < 0, index + self.shape[dim], index) * target.stride(dim)
        offset = offset + step.view([1] * len(before) + list(index.shape) + [1] * len(after))
    for number, dim in enumerate([*before, *after]):
        shape = [1] * offset.dim()
        shape[number if dim in before else number + rank] = self.shape[dim]
        offset = offset + (torch.arange(self.shape[dim], device=self.device) * target.stride(dim)).view(shape)
    count, values = offset.numel(), values.to(self.dtype).expand(offset.shape).contiguous()
    if self.dtype == torch.bool:
        values, target = values.view(torch.uint8), target if accumulate else target.view(torch.uint8)
    if count:
        grid = (triton.cdiv(count, 256),)
        put_kernel[grid](target, offset.contiguous(), values, count, ADDS=accumulate, BLOCK=256)
    if accumulate:
        self.copy_(target)
    return self
