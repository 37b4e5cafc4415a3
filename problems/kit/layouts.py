"""The same values in other memory layouts: a kernel that ignores strides gives wrong results.

The memory between the elements is filled with values of the tensor itself, at wrong positions: a kernel that reads them
gives a plausible wrong result, which the checks must detect without a NaN.
"""

from __future__ import annotations

import enum

from problems.kit.deferred import torch


class Layout(enum.StrEnum):
    """Layout of the elements of a tensor in memory."""

    CONTIGUOUS = "contiguous"
    TRANSPOSED = "transposed"
    STRIDED = "strided"
    EXPANDED = "expanded"
    OFFSET = "offset"
    PADDED = "padded"
    IRREGULAR = "irregular"


_GAP = 3


def laid_out(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    """`tensor` in the layout called `layout`: same shape and dtype and, except for EXPANDED, the same values.

    TRANSPOSED stores the last two dimensions swapped, STRIDED leaves a gap after every element, OFFSET starts three
    elements into its storage, so that its address is not a multiple of 16 bytes (except for complex128), PADDED is a
    slice of a tensor that is wider in dimension 1, such as one part of a wider projection, and EXPANDED repeats the
    first entry of dimension 0 with stride 0.  IRREGULAR combines three of them, for any rank: dimensions stored in
    reverse order, a gap after every element, an offset of three elements.
    """
    match Layout(layout):
        case Layout.CONTIGUOUS:
            return tensor.contiguous()
        case Layout.TRANSPOSED:
            return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
        case Layout.STRIDED:
            return _with_gaps(tensor)
        case Layout.EXPANDED:
            return tensor[:1].contiguous().expand(tensor.shape)
        case Layout.OFFSET:
            flat = torch.cat((tensor.flatten()[:1].repeat(_GAP), tensor.flatten()))
            return flat[_GAP:].view(tensor.shape)
        case Layout.PADDED:
            return torch.cat((tensor, tensor[:, :_GAP]), dim=1)[:, : tensor.shape[1]]
        case Layout.IRREGULAR:
            reverse = tuple(reversed(range(tensor.dim())))
            gapped = _with_gaps(tensor.permute(reverse)).permute(reverse)
            content = gapped.untyped_storage()
            whole = torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(content)
            flat = torch.cat((whole[:1].repeat(_GAP), whole))
            return flat.as_strided(gapped.shape, gapped.stride(), _GAP)


def _with_gaps(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` with a gap of one element after every element; the gaps hold its other elements."""
    others = tensor.flip(-1) if tensor.dim() else tensor
    return torch.stack((tensor, others), dim=-1)[..., 0]
