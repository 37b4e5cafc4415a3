"""Kind of work of each torch operator, by name; an operator that is not in the table counts as COMPUTE."""

from __future__ import annotations

import torch

from engine.protocol.monitoring import LIGHT, RESOLVE_NEG, OperatorKind

_NAMES = {
    OperatorKind.ALLOCATION: (
        "empty empty_strided empty_like new_empty new_empty_strided empty_permuted zeros zeros_like new_zeros ones "
        "ones_like new_ones full full_like new_full fill fill_ zero zero_ arange linspace eye scalar_tensor lift_fresh"
    ),
    OperatorKind.VIEW: (
        "view _unsafe_view reshape _reshape_alias alias t transpose transpose_ permute expand slice select narrow "
        "squeeze squeeze_ unsqueeze unsqueeze_ as_strided as_strided_ detach detach_ unbind split split_with_sizes "
        "chunk diagonal unfold view_as_real view_as_complex view_as movedim swapaxes t_ flatten unflatten real imag "
        "broadcast_to expand_as _conj _neg_view"
    ),
    OperatorKind.METADATA: (
        "set_ resize_ size stride storage_offset numel dim is_contiguous sym_size sym_stride sym_numel is_same_size "
        "is_pinned _local_scalar_dense item record_stream requires_grad_ is_nonzero result_type"
    ),
    OperatorKind.COPY: (
        "copy_ clone _to_copy contiguous cat stack constant_pad_nd repeat flip roll lift _pin_memory pin_memory "
        "resolve_conj resolve_neg _copy_from _copy_from_and_resize _foreach_copy_ slice_scatter select_scatter "
        "repeat_interleave"
    ),
    OperatorKind.RANDOM: (
        "rand randn randint randperm rand_like randn_like randint_like uniform_ normal_ random_ exponential_ "
        "geometric_ cauchy_ log_normal_"
    ),
    OperatorKind.QUESTION: (
        "eq ne lt le gt ge equal any all isnan isinf isfinite logical_and logical_or logical_not logical_xor "
        "_assert_async is_set_to"
    ),
    OperatorKind.LIGHT: " ".join(sorted(LIGHT - {RESOLVE_NEG.removeprefix("aten::")})),
}
KINDS = {
    getattr(torch.ops.aten, name): kind
    for kind, names in _NAMES.items()
    for name in names.split()
    if hasattr(torch.ops.aten, name)
}
