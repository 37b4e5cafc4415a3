"""Numerics of the whole process that are changed: precision flags, default types, autocast, threads.

A reference that runs in the same process becomes as sloppy, or as slow, as the candidate wants it to be.  Reading a
flag, and setting one in a script of its own, are ordinary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.checks import hint

STRICT = "The numerics of the process are left as they are."
CATCHES = (
    "import torch\ntorch.backends.cuda.matmul.allow_tf32 = True\n",
    "import torch as t\nB = t.backends\nB.cudnn.benchmark = True\n",
    "import torch\ntorch.set_float32_matmul_precision('medium')\n",
    "import torch\ndef f(x):\n    torch.set_default_dtype(torch.float16)\n    return x\n",
    "import torch\ndef f(x):\n    with torch.autocast('cuda'):\n        return launch(x)\n",
    "import torch\nsetattr(torch.backends.cudnn, 'allow' + '_tf32', True)\n",
    "import torch\ntorch.set_num_threads(1)\n",
)
SPARES = (
    "import torch\nTF32 = torch.backends.cuda.matmul.allow_tf32\n",
    "import torch\nPRECISION = torch.get_float32_matmul_precision()\n",
    "import torch\ndef f(x):\n    return torch.is_autocast_enabled()\n",
    "import torch\nif __name__ == '__main__':\n    torch.backends.cuda.matmul.allow_tf32 = True\n",
    "@triton.jit\ndef k(x, y):\n    tl.store(y, tl.dot(x, x, allow_tf32=True))\n",
    "import torch\ndef f(x):\n    with torch.no_grad():\n        return launch(x)\n",
    "import torch\ntorch.backends.cuda.matmul.allow_tf32 = False\ntorch.set_float32_matmul_precision('highest')\n",
    "class M:\n    def __init__(self):\n        self.allow_tf32 = True\n",
    "import torch\n@torch.autocast('cuda', enabled=False)\ndef f(x):\n    return launch(x)\n",
)
_SETTERS = words(
    "torch.set_float32_matmul_precision torch.set_default_dtype torch.set_default_tensor_type torch.set_default_device "
    "torch.use_deterministic_algorithms torch.set_deterministic_debug_mode torch.set_flush_denormal torch.autocast "
    "torch.cuda.amp.autocast torch.amp.autocast torch.amp.autocast_mode.autocast torch.cpu.amp.autocast "
    "torch.set_autocast_enabled torch.set_autocast_dtype torch.set_num_threads torch.set_num_interop_threads "
    "torch.backends.cudnn.flags torch.backends.cuda.sdp_kernel torch.cuda.set_per_process_memory_fraction "
    "torch.set_grad_enabled torch.set_warn_always numpy.seterr torch.backends.cuda.preferred_linalg_library "
    "torch.backends.cuda.preferred_blas_library torch.set_autocast_gpu_dtype"
)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every setter, and for every store into torch.backends, but not where full precision is asked for."""
    for node, name in reading.mentions(*_SETTERS):
        if name.endswith("autocast"):
            if not _is_disabled(node):
                yield hint("numerics_state", node, f"{name} has torch compute in lower precision within")
        elif not _asks_for_full_precision(reading, node, name):
            yield hint("numerics_state", node, f"{name} changes the numerics of the whole process")
    for attribute in reading.host(ast.Attribute):
        if isinstance(attribute.ctx, ast.Store) and not _is_switched_off(reading, attribute):
            names = reading.names.of(attribute.value)
            if any(name.startswith("torch.backends") for name in names):
                yield hint("numerics_state", attribute, f"{attribute.attr} is a setting of the whole process")
    for call in reading.host(ast.Call):
        holder = reading.names.of(call.args[0]) if call.args else ()
        if "builtins.setattr" in reading.names.of(call.func) and any(n.startswith("torch.backends") for n in holder):
            yield hint("numerics_state", call, "torch.backends holds settings of the whole process")


def _asks_for_full_precision(reading: Reading, node: ast.expr, name: str) -> bool:
    given = reading.names.text(node.args[0]) if isinstance(node, ast.Call) and node.args else None
    return name == "torch.set_float32_matmul_precision" and given == "highest"


def _is_disabled(node: ast.expr) -> bool:
    keywords = node.keywords if isinstance(node, ast.Call) else []
    return any(
        keyword.arg == "enabled" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        for keyword in keywords
    )


def _is_switched_off(reading: Reading, attribute: ast.Attribute) -> bool:
    above = reading.parent(attribute)
    value = above.value if isinstance(above, ast.Assign) else None
    return "allow_" in attribute.attr and isinstance(value, ast.Constant) and value.value is False
