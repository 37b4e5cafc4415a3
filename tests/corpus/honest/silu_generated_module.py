# kgtui: op=aten::silu expect=pass
"""Writes the source of its kernel to a cache folder of its own and imports it, as libraries do for pointwise families."""

import hashlib
import importlib.util
import os
from pathlib import Path

import torch

SOURCE = '''
import triton
import triton.language as tl


@triton.jit
def {name}(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < count, other=0.0).to(tl.float32)
    y = {expression}
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=at < count)
'''


def cache_folder():
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = home / "pointwise" / "code"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def generated(name, expression):
    """The kernel of this expression, from a module that is written on first use."""
    source = SOURCE.format(name=name, expression=expression)
    path = cache_folder() / f"{name}_{hashlib.sha256(source.encode()).hexdigest()[:12]}.py"
    if not path.exists():
        unfinished = path.with_suffix(f".{os.getpid()}.tmp")
        unfinished.write_text(source)
        os.replace(unfinished, path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


silu_pointwise = generated("silu_pointwise", "x / (1 + tl.exp(-x))")


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        silu_pointwise[((y.numel() + 1023) // 1024,)](x, y, y.numel(), BLOCK=1024)
    return y
