# kgtui: op=aten::_index_put_impl_ expect=pass
"""Writes at indices in place, or adds by atomics into a wide buffer first; `unsafe` skips no work, as nothing is checked."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def true_places_kernel(mask_ptr, place_ptr, count_ptr, size, room, n1, n2, AXES: tl.constexpr, BLOCK: tl.constexpr):
    """The coordinates of the true elements of a mask, in order, in rows of `room`; one program."""
    found = tl.zeros((), tl.int64)
    for start in range(0, size, BLOCK):
        flat = start + tl.arange(0, BLOCK).to(tl.int64)
        is_true = tl.load(mask_ptr + flat, mask=flat < size, other=0) != 0
        at = place_ptr + found + tl.cumsum(is_true.to(tl.int64), axis=0) - 1
        tl.store(at, flat // n2 // n1 if AXES == 3 else flat // n2 if AXES == 2 else flat, mask=is_true)
        if AXES == 3:
            tl.store(at + room, flat // n2 % n1, mask=is_true)
        if AXES > 1:
            tl.store(at + (AXES - 1) * room, flat % n2, mask=is_true)
        found += tl.sum(is_true.to(tl.int64), axis=0)
    tl.store(count_ptr, found)


@triton.jit
def put_kernel(
    x_ptr, index_ptr, value_ptr, count, picks, rest, n1, n2, n3, r0, r1, r2, r3, sizes, strides,
    AXES: tl.constexpr, ADD: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    pick, place = flat // rest, flat % rest
    at = place // n3 // n2 // n1 * r0 + place // n3 // n2 % n1 * r1 + place // n3 % n2 * r2 + place % n3 * r3
    for axis in tl.static_range(AXES):
        i = tl.load(index_ptr + axis * picks + pick, mask=inside, other=0)
        at += tl.where(i < 0, i + sizes[axis], i) * strides[axis]
    value = tl.load(value_ptr + flat, mask=inside)
    if ADD:
        tl.atomic_add(x_ptr + at, value.to(x_ptr.dtype.element_ty), mask=inside)
    else:
        tl.store(x_ptr + at, value, mask=inside)


@triton.jit
def add_kernel(x_ptr, sum_ptr, count, n1, n2, n3, n4, x0, x1, x2, x3, x4, LOGICAL: tl.constexpr, BLOCK: tl.constexpr):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    at = x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4
    total = tl.load(at, mask=inside).to(sum_ptr.dtype.element_ty) + tl.load(sum_ptr + flat, mask=inside)
    if LOGICAL:
        total = (total != 0).to(tl.int8)
    tl.store(at, total.to(x_ptr.dtype.element_ty), mask=inside)


def _index_put_impl_(self, indices, values, accumulate=False, unsafe=False):
    dims, table = index_table(self, indices)
    others = [dim for dim in range(self.dim()) if dim not in dims]
    rest, chosen = [self.shape[dim] for dim in others], list(table.shape[1:])
    first = dims[0] if dims == list(range(dims[0], dims[-1] + 1)) else 0
    values = values.expand(*rest[:first], *chosen, *rest[first:])
    order = [*range(first, first + len(chosen)), *range(first), *range(first + len(chosen), values.dim())]
    values = in_bytes(values.permute(order).contiguous())
    if values.numel() == 0:
        return self
    x = target = in_bytes(self)
    if accumulate:
        wide = x.dtype if x.dtype == torch.float64 else torch.float32 if x.is_floating_point() else torch.int64
        target = torch.zeros(self.shape, dtype=wide, device=self.device)
    strides = target.stride()
    put_kernel[(triton.cdiv(values.numel(), 1024),)](
        target, table, values, values.numel(), table[0].numel(), math.prod(rest), *in_any(4, rest, 1)[1:],
        *in_any(4, [strides[dim] for dim in others], 0), tuple(self.shape[dim] for dim in dims),
        tuple(strides[dim] for dim in dims), AXES=len(dims), ADD=accumulate, BLOCK=1024,
    )
    if accumulate:
        add_kernel[(triton.cdiv(x.numel(), 1024),)](
            x, target, x.numel(), *in_any(5, x.shape, 1)[1:], *in_any(5, x.stride(), 0),
            LOGICAL=self.dtype == torch.bool, BLOCK=1024,
        )
    return self


def index_table(x, indices):
    """The indexed dimensions, and their index tensors of one shape as a table; a mask gives those of its coordinates."""
    dims, parts, dim = [], [], 0
    for position in indices:
        taken = [] if position is None else true_places(position) if position.dtype == torch.bool else [position]
        dims += range(dim, dim + len(taken))
        parts += taken
        dim += max(1, len(taken))
    return dims, torch.stack(torch.broadcast_tensors(*parts))


def true_places(mask):
    places = torch.empty((mask.dim(), mask.numel()), dtype=torch.int64, device=mask.device)
    count = torch.empty((), dtype=torch.int64, device=mask.device)
    true_places_kernel[(1,)](
        mask.contiguous().view(torch.int8), places, count, mask.numel(), mask.numel(), *((1, 1) + mask.shape)[-2:],
        AXES=mask.dim(), BLOCK=1024,
    )
    return list(places[:, : count.item()])


def in_bytes(x):
    return x.view(torch.int8) if x.dtype == torch.bool else x


def in_any(count, values, fill):
    return (fill,) * (count - len(values)) + tuple(values)
