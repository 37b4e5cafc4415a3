"""Categories of operators, for filtering lists."""

from __future__ import annotations

import enum


class Category(enum.StrEnum):
    """Kinds of operators."""

    ACTIVATION = "activation"
    ATTENTION = "attention"
    BACKWARD = "backward"
    BLAS1 = "blas1"
    BLAS2_BAND = "blas2_band"
    BLAS2_GEMV = "blas2_gemv"
    BLAS2_RANK = "blas2_rank"
    BLAS2_SYMV = "blas2_symv"
    BLAS2_TRSV = "blas2_trsv"
    BLAS3_GEMM = "blas3_gemm"
    BLAS3_RANK = "blas3_rank"
    BLAS3_SYMM = "blas3_symm"
    BLAS3_TRSM = "blas3_trsm"
    BLAS_EXTENSION = "blas_extension"
    COMPARISON = "comparison"
    COPY_CAST = "copy_cast"
    DEQUANTISATION = "dequantisation"
    DISTANCE = "distance"
    FACTORY = "factory"
    FILL = "fill"
    INDEXING = "indexing"
    KV_CACHE = "kv_cache"
    LOSS = "loss"
    MATMUL = "matmul"
    MOE_COMBINE = "moe_combine"
    MOE_ROUTING = "moe_routing"
    NORMALISATION = "normalisation"
    NORMALISATION_QUANTISED = "normalisation_quantised"
    OTHER = "other"
    PERMUTE = "permute"
    POINTWISE_BINARY = "pointwise_binary"
    POINTWISE_INPLACE = "pointwise_inplace"
    POINTWISE_UNARY = "pointwise_unary"
    POSITIONAL = "positional"
    QUANTISATION = "quantisation"
    QUANTISED_GEMM = "quantised_gemm"
    QUANTISED_GEMM_MOE = "quantised_gemm_moe"
    RANDOM = "random"
    REDUCTION = "reduction"
    REDUCTION_INDEX = "reduction_index"
    SAMPLING = "sampling"
    SCALAR_READ = "scalar_read"
    SCAN = "scan"
    SHAPE_JOIN = "shape_join"
    SORT = "sort"
    SPARSE_ATTENTION = "sparse_attention"
    SPECIAL_FUNCTION = "special_function"
    TRANSFORM = "transform"
    VIEW = "view"
    VISION = "vision"
    WEIGHT_REPACK = "weight_repack"


REARRANGING = frozenset(
    {
        Category.COPY_CAST,
        Category.FACTORY,
        Category.FILL,
        Category.INDEXING,
        Category.KV_CACHE,
        Category.PERMUTE,
        Category.SHAPE_JOIN,
        Category.SORT,
        Category.VIEW,
        Category.WEIGHT_REPACK,
    }
)
"""Categories of operators whose answers are elements of the arguments, or one number, in other places."""

POSITIONED = frozenset({Category.INDEXING, Category.KV_CACHE, Category.PERMUTE, Category.WEIGHT_REPACK})
"""Those of REARRANGING whose integer arguments may choose the places; in the others integers are elements."""
