"""Which PyTorch names compute, and which only allocate, view, move or describe.

Every name of the operator namespaces that is not in `PLAIN` counts as computing, so that operators that are new in
PyTorch are covered.
"""

from __future__ import annotations

import re
from enum import IntEnum

from engine.static.analysis.words import words

ALLOCATING = words(
    "empty empty_like empty_strided empty_permuted zeros zeros_like ones ones_like full full_like tensor as_tensor "
    "asarray scalar_tensor arange range linspace logspace eye from_numpy frombuffer from_dlpack from_file rand "
    "rand_like randn randn_like randint randint_like randperm normal new new_empty new_empty_strided new_full new_ones "
    "new_tensor new_zeros tril_indices triu_indices sparse_coo_tensor sparse_csr_tensor complex polar Generator"
)
VIEWING = words(
    "view view_as view_as_real view_as_complex reshape reshape_as permute transpose t swapaxes swapdims movedim "
    "moveaxis adjoint squeeze unsqueeze expand expand_as broadcast_to broadcast_tensors as_strided flatten unflatten "
    "ravel detach alias diagonal unfold narrow select chunk split split_with_sizes unsafe_chunk unsafe_split "
    "tensor_split hsplit vsplit dsplit unbind atleast_1d atleast_2d atleast_3d real imag conj resolve_conj resolve_neg "
    "values indices requires_grad positive"
)
COPYING = words(
    "contiguous clone to type type_as float half double bfloat16 int long short bool char byte cfloat cdouble "
    "chalf cpu "
    "cuda xpu copy cat concat concatenate stack hstack vstack dstack column_stack row_stack pad constant_pad_nd repeat "
    "tile meshgrid pin_memory resize resize_as set share_memory to_dense coalesce block_diag fill zero "
    "flip fliplr flipud roll rot90"
)
DESCRIBING = words(
    "size stride numel nelement dim ndimension element_size storage_offset storage storage_type untyped_storage "
    "data_ptr const_data_ptr is_contiguous is_floating_point is_complex is_signed is_coalesced is_conj is_distributed "
    "is_inference is_neg is_pinned is_same_size is_set_to is_shared is_tensor is_storage item tolist numpy result_type "
    "promote_types can_cast broadcast_shapes get_device dense_dim sparse_dim dim_order qscheme typename finfo iinfo "
    "device dtype Size record_stream register_hook retain_grad backward apply map share_memory nonzero_static "
    "unravel_index combinations cartesian_prod handle_torch_function has_torch_function is_nonzero to_dlpack int_repr "
    "q_scale q_zero_point q_per_channel_scales empty_quantized"
)
PLAIN = ALLOCATING | VIEWING | COPYING | DESCRIBING

ELEMENTWISE = words(
    "abs absolute add addcdiv addcmul bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift "
    "bitwise_xor ceil clamp clamp_max clamp_min clip copysign deg2rad div divide eq fix float_power floor floor_divide "
    "fmax fmin fmod frac frexp ge greater greater_equal gt heaviside isclose isfinite isin isinf isnan isneginf "
    "isposinf isreal ldexp le lerp less less_equal logical_and logical_not logical_or logical_xor lt masked_fill "
    "maximum minimum mul multiply nan_to_num ne neg negative nextafter not_equal pow rad2deg reciprocal "
    "remainder round "
    "rsub sgn sign signbit sqrt square sub subtract true_divide trunc where index_put index_fill masked_select "
    "masked_scatter tril triu repeat_interleave one_hot diag diagflat diag_embed hypot "
    "rsqrt equal allclose"
)
REDUCING = words(
    "sum mean prod amax amin max min aminmax argmax argmin all any count_nonzero nonzero argwhere nansum nanmean"
)
LIGHT = ELEMENTWISE | REDUCING
"""Operators that honest launchers also apply to sizes, scales and masks: they count only in the answer."""

MATH = words(
    "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh asin acos atan asinh acosh atanh atan2 sinc deg2rad "
    "rad2deg"
)
"""Functions that make tables from positions, and activations from inputs: only the second is evidence."""

DISTINCT_METHODS = words(
    "matmul mm bmm addmm addbmm baddbmm addmv addr mv vdot inner outer ger chain_matmul softmax log_softmax sigmoid "
    "tanh relu gelu logsumexp logcumsumexp cumsum cumprod cummax cummin topk kthvalue argsort msort scatter "
    "scatter_add "
    "scatter_reduce index_select index_add index_reduce index_copy take_along_dim gather softplus logit erf erfc "
    "erfinv "
    "expm1 log1p exp2 log2 log10 lgamma digamma polygamma sinc median nanmedian quantile histc bincount var std renorm "
    "cdist cholesky matrix_exp matrix_power pinverse lu_solve det logdet slogdet svd qr prelu hardshrink xlogy "
    "logaddexp"
)
"""Methods that only tensors have, so that the type of the object need not be known."""

COMPUTING_METHODS = (
    DISTINCT_METHODS
    | LIGHT
    | words(
        "exp log sin cos tan sinh cosh asin acos atan asinh acosh atanh atan2 dot sort norm cross kron trace unique "
        "unique_consecutive dist take inverse bernoulli multinomial trapz diff cov corrcoef"
    )
)

NAMESPACES = (
    "torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special.", "torch.sparse.", "torch._C._nn.",
    "torch._C._linalg.", "torch._C._fft.", "torch._C._special.", "torch._C._VariableFunctions.", "torch._VF.",
    "torch._C._TensorBase.", "torch._C.TensorBase.", "torch.Tensor.", "torch.ops.aten.", "torch.ops.prims.",
    "torch.ops.prim.", "torch.ops.mkldnn.", "torch.ops.quantized.", "torch._refs.", "torch._prims.", "torch._decomp.",
    "torch.masked.", "torch.nested.", "torch.signal.", "torch.ao.", "torch.nn.attention.", "torch.functional.",
    "operator.", "_operator.",
)  # fmt: skip
"""Namespaces of operators besides `torch` itself."""

_OPERATORS = {"matmul": "matmul", "imatmul": "matmul", "__matmul__": "matmul", "__imatmul__": "matmul"}
_STRUCTURAL = words(
    "Module Parameter ParameterList ParameterDict ModuleList ModuleDict Sequential Identity Buffer Flatten Unflatten "
    "UninitializedParameter"
)
_HOUSEKEEPING = (
    "set_", "get_", "is_", "are_", "has_", "autocast", "use_", "clear_", "init", "sym_", "parse_", "import_", "fork",
    "wait", "profiler_", "prepare_", "merge_", "unify_", "compiled_with", "manual_seed", "seed", "save", "load",
    "compile", "no_grad", "enable_grad", "inference_mode", "thread_safe", "vmap", "cond", "while_loop", "export",
    "func",
)  # fmt: skip
_MODULES = words(
    "accelerator amp ao autograd backends classes compiler contrib cpu cuda distributed distributions futures fx hub "
    "jit library mps mtia multiprocessing monitor nn onnx ops optim overrides package profiler quasirandom "
    "quantization "
    "random return_types serialization storage testing types utils version xpu fft linalg special sparse functional "
    "masked nested signal memory_format layout strided preserve_format contiguous_format channels_last "
    "channels_last_3d "
    "pi inf nan e newaxis float64 float32 float16 int64 int32 int16 int8 uint8 uint16 uint32 uint64 complex64 "
    "complex128 complex32 qint8 quint8 qint32 half"
)


_DTYPE = re.compile(r"b?float\d|q?u?int\d|complex\d|bits\d")


class Weight(IntEnum):
    """Weight of a PyTorch name as evidence of an answer's origin, in ascending order."""

    LIGHT = 1
    """Arithmetic and small reductions, which bookkeeping needs too."""
    MATH = 2
    """A function of each element."""
    HEAVY = 3
    """A whole operator: a product, a softmax, a sort."""


def weight_of(name: str) -> Weight | None:
    """Weight of a dotted name, if it names an operator of PyTorch that computes."""
    operator = _operator_of(name)
    if operator is None:
        return None
    plain = operator.strip("_").removesuffix("_copy")
    if plain in PLAIN or operator in PLAIN:
        return None
    return _weigh(plain)


def weight_of_method(attribute: str) -> Weight | None:
    """Weight of a method of a tensor, in place or not."""
    plain = attribute.rstrip("_") if not attribute.startswith("__") else _OPERATORS.get(attribute, "")
    if plain not in COMPUTING_METHODS:
        return None
    return _weigh(plain)


def _weigh(operator: str) -> Weight:
    if operator in LIGHT:
        return Weight.LIGHT
    return Weight.MATH if operator in MATH else Weight.HEAVY


def _operator_of(name: str) -> str | None:
    for namespace in NAMESPACES:
        if name.startswith(namespace):
            rest = name.removeprefix(namespace).split(".")[0]
            if "(" in rest or "[" in rest or not rest or rest[0].isupper():
                return None
            if "operator." in namespace:
                return _OPERATORS.get(rest)  # most others are used on numbers
            if namespace == "torch.Tensor." and weight_of_method(rest) is None:
                return None
            return rest
    if name.startswith("torch.nn.") and name.endswith("()"):
        layer = name.removesuffix("()").rpartition(".")[2]
        return layer.lower() if layer[:1].isupper() and layer not in _STRUCTURAL else None
    head, _, rest = name.partition(".")
    if head != "torch" or "." in rest or not (rest[:1].islower() or rest.startswith("_")):
        return None
    if rest in _MODULES or _DTYPE.match(rest) or "(" in rest or "[" in rest or rest.startswith(_HOUSEKEEPING):
        return None
    if rest.startswith("_"):  # torch._softmax computes; torch._C, torch._inductor and the like are modules
        plain = rest.lstrip("_")
        return plain if plain in COMPUTING_METHODS | {"convolution", "scaled_mm", "int_mm"} else None
    return rest
