# kgtui: op=aten::index expect=out_of_bounds|wrong_value diagnosis=not_reached case="9x65 [7] at 0 f32"
"""Advanced indexing that does not count negative indices from the end."""

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
def index_kernel(
    x_ptr, index_ptr, y_ptr, count, picks, rest, n1, n2, n3, r0, r1, r2, r3, sizes, strides,
    AXES: tl.constexpr, WORDS: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    pick, place = flat // rest, flat % rest
    at = place // n3 // n2 // n1 * r0 + place // n3 // n2 % n1 * r1 + place // n3 % n2 * r2 + place % n3 * r3
    for axis in tl.static_range(AXES):
        i = tl.load(index_ptr + axis * picks + pick, mask=inside, other=0)
        at += i * strides[axis]
    for word in tl.static_range(WORDS):
        x = tl.load(x_ptr + at + word, mask=inside)
        tl.store(y_ptr + flat * WORDS + word, x, mask=inside)


def index(self, indices):
    dims, table = index_table(self, indices)
    others = [dim for dim in range(self.dim()) if dim not in dims]
    rest = [self.shape[dim] for dim in others]
    y = torch.empty((*table.shape[1:], *rest), dtype=self.dtype, device=self.device)
    if y.numel():
        source = in_words(self)
        strides = source.stride()
        index_kernel[(triton.cdiv(y.numel(), 1024),)](
            source, table, in_words(y), y.numel(), table[0].numel(), math.prod(rest), *in_four(rest, 1)[1:],
            *in_four([strides[dim] for dim in others], 0), tuple(self.shape[dim] for dim in dims),
            tuple(strides[dim] for dim in dims), AXES=len(dims), WORDS=2 if y.is_complex() else 1, BLOCK=1024,
        )
    first = dims[0] if dims == list(range(dims[0], dims[-1] + 1)) else 0
    chosen = list(range(table.dim() - 1))
    kept = list(range(len(chosen), y.dim()))
    return y.permute(*kept[:first], *chosen, *kept[first:])


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


def in_words(x):
    """Complex numbers as pairs, booleans as bytes, others as they are: nothing is computed with them."""
    return torch.view_as_real(x) if x.is_complex() else x.view(torch.int8) if x.dtype == torch.bool else x


def in_four(values, fill):
    return (fill,) * (4 - len(values)) + tuple(values)
