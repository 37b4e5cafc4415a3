"""Lines of the second-level cache that are set aside.

What is kept there survives a flush, so that a timed call finds its inputs warm.  Eviction hints of a single load are
ordinary.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.checks import hint

STRICT = "The device's cache is left as it is set."
CATCHES = (
    "def f(x, cudart):\n    cudart.cudaDeviceSetLimit(cudart.cudaLimit.cudaLimitPersistingL2CacheSize, 1 << 20)\n",
    "CUDA = 'attr.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;'\n",
    "def f(x, cuda):\n    cuda.cuCtxSetLimit(cuda.CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0)\n",
)
SPARES = (
    "@triton.jit\ndef k(x, y):\n    tl.store(y, tl.load(x, eviction_policy='evict_last'))\n",
    "def f(x):\n    return launch(x, persistent=True)\n",
    "'''A persistent kernel: as many programs as multiprocessors.'''\n",
)
_SETTING = re.compile(r"PersistingL2|PERSISTING_L2|accessPolicyWindow|AccessPropertyPersisting|ACCESS_POLICY_WINDOW")


def check(reading: Reading) -> Iterator[Finding]:
    """A hint wherever lines of the cache are set aside."""
    documentation = set(reading.docstrings())
    for attribute in reading.host(ast.Attribute):
        if _SETTING.search(attribute.attr):
            yield hint("persisting_cache", attribute, f"{attribute.attr} sets lines of the device's cache aside")
    for constant in reading.host(ast.Constant):
        if isinstance(constant.value, str) and constant not in documentation and _SETTING.search(constant.value):
            yield hint("persisting_cache", constant, "this text sets lines of the device's cache aside")
