"""The caches of the compilers.

A binary that is planted there runs in the place of the source that is judged.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.checks import hint

STRICT = "The caches of the compilers are left alone."
CATCHES = (
    "import os\nos.environ['TRITON_CACHE_DIR'] = '/tmp/mine'\n",
    "from triton.runtime.cache import get_cache_manager\nM = get_cache_manager('key')\n",
    "import os\nP = os.path.expanduser('~/.triton/cache')\n",
    "import os\nos.environ.update(TORCHINDUCTOR_CACHE_DIR='x')\n",
    "import triton\ntriton.knobs.cache.dir = 'x'\n",
    "@triton.jit\ndef k(x):\n    pass\nk.device_caches[0] = planted\n",
    "@triton.jit\ndef k(x):\n    pass\nk.kernel_cache.clear()\n",
)
SPARES = (
    "import os\nos.environ['TRITON_PRINT_AUTOTUNING'] = '1'\n",
    "import os\nPLACE = os.environ.get('TRITON_CACHE_DIR')\n",
    "CACHE = {}\nclass M:\n    cache = {}\n    def f(self, x):\n        self.cache[x.shape] = 4\n"
    "        return launch(x)\n",
    "class Entry:\n    def __init__(self, fn):\n        self.fn, self.kernel_cache = fn, {}\n"
    "    def run(self, x):\n        return self.kernel_cache.setdefault(x.dtype, self.fn)\n",
    "import functools\n@functools.cache\ndef sms():\n    return 108\n",
    "@triton.autotune(configs=[], key=[], cache_results=True)\n@triton.jit\ndef k(x):\n    pass\n",
    "def f(x, cache):\n    cache['x'] = x\n    return launch(x)\n",
)
_VARIABLES = words(
    "TRITON_CACHE_DIR TRITON_CACHE_MANAGER TRITON_OVERRIDE_DIR TRITON_KERNEL_OVERRIDE TRITON_DUMP_DIR TRITON_HOME "
    "TORCHINDUCTOR_CACHE_DIR TORCH_EXTENSIONS_DIR CUDA_CACHE_PATH TRITON_PTXAS_PATH"
)
_PATHS = re.compile(r"\.triton/(cache|override|dump)|torchinductor_|torch_extensions|\.nv/ComputeCache")
_OF_KERNELS = frozenset({"device_caches", "cache_hook"})
_OF_A_KERNEL = frozenset({"cache", "kernel_cache", "_compile_cache"})
"""Of a kernel these are Triton's; of any other object they are what its author calls so."""


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for cache folders that are set or named, and for caches of kernels that are reached into."""
    for node, name in reading.mentions(
        "triton.runtime.cache.", "triton.runtime.jit.JITFunction.", "triton.knobs.cache."
    ):
        yield hint("compile_cache", node, f"{name} reaches into the compiler's cache")
    kernels = {kernel.name for kernel in reading.kernels}
    for attribute in reading.host(ast.Attribute):
        stored = isinstance(attribute.ctx, ast.Store) and any(
            name.startswith("triton.knobs.cache") for name in reading.names.of(attribute.value)
        )
        is_triton = attribute.attr in _OF_KERNELS or (
            attribute.attr in _OF_A_KERNEL and isinstance(attribute.value, ast.Name) and attribute.value.id in kernels
        )
        if is_triton or stored:
            yield hint("compile_cache", attribute, f"{attribute.attr} holds compiled kernels")
    for constant in reading.host(ast.Constant):
        if isinstance(constant.value, str):
            if _PATHS.search(constant.value):
                yield hint("compile_cache", constant, "this is the folder of a compiler's cache")
            elif constant.value in _VARIABLES and _is_set(reading, constant):
                yield hint("compile_cache", constant, f"{constant.value} decides where compiled kernels come from")
    for keyword in reading.host(ast.keyword):
        if keyword.arg in _VARIABLES:
            yield hint("compile_cache", keyword.value, f"{keyword.arg} decides where compiled kernels come from")


def _is_set(reading: Reading, constant: ast.Constant) -> bool:
    above = reading.parent(constant)
    if isinstance(above, ast.Subscript):
        return isinstance(above.ctx, ast.Store | ast.Del)
    if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute):
        return above.func.attr in ("putenv", "setdefault", "pop")
    return isinstance(above, ast.Dict)
