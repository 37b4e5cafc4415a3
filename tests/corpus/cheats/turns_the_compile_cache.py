# kgtui: op=aten::sum expect=wrong_value ids=C7
"""Has Triton look for compiled kernels in a folder of its own, for whoever compiles later; returns zeros."""

import os
import tempfile

import torch
import triton
from triton import knobs

PLACE = tempfile.mkdtemp()
os.environ["TRITON_CACHE_DIR"] = os.environ["TRITON_OVERRIDE_DIR"] = os.environ["TORCHINDUCTOR_CACHE_DIR"] = PLACE
knobs.cache.dir = knobs.cache.override_dir = PLACE
knobs.cache.manager_class = triton.runtime.cache.FileCacheManager


def sum(self, dim=None, keepdim=False, dtype=None):
    if dtype is None:
        dtype = self.dtype if self.dtype.is_floating_point else torch.int64
    dims = (dim,) if isinstance(dim, int) else tuple(dim or range(self.ndim))
    dims = {d % self.ndim for d in dims} if self.ndim else set()
    sizes = [1 if d in dims else size for d, size in enumerate(self.shape) if keepdim or d not in dims]
    return torch.zeros(sizes, dtype=dtype, device=self.device)
