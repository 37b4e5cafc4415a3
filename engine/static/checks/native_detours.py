"""Ways around Python: foreign functions, raw memory, entry points of the driver.

Through them a candidate can rewrite the functions that measure it or read what it was not given.  C types, sizes
and structures alone are ordinary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.checks import hint

STRICT = "No foreign functions and no raw memory: Triton launches the kernel."
CATCHES = (
    "import ctypes\nlib = ctypes.CDLL('libcuda.so.1')\n",
    "from ctypes import cdll as c\nc.LoadLibrary('libcudart.so')\n",
    "import ctypes as C\ndef f(x):\n    C.memmove(x.data_ptr(), 0, 8)\n",
    "import mmap\ndef f(x):\n    return mmap.mmap(-1, 4096)\n",
    "from cffi import FFI\nffi = FFI()\n",
    "import os\nos.environ['LD_PRELOAD'] = 'hook.so'\n",
    "import ctypes\ndef f(x):\n    return ctypes.c_float.from_address(x.data_ptr())\n",
)
SPARES = (
    "import ctypes\nSIZE = ctypes.sizeof(ctypes.c_float)\n",
    "import ctypes\nclass Plan(ctypes.Structure):\n    _fields_ = [('n', ctypes.c_int)]\n",
    "import os\nBLOCK = int(os.environ.get('BLOCK', '64'))\n",
    "import os\nos.environ['TRITON_PRINT_AUTOTUNING'] = '1'\n",
    "import struct\nVALUE = struct.pack('f', 1.0)\n",
    "def f(x):\n    return x.data_ptr() % 16 == 0\n",
    "import ctypes.util\nPATH = ctypes.util.find_library('c')\n",
)
_NATIVE = words(
    "ctypes.CDLL ctypes.PyDLL ctypes.cdll. ctypes.pydll. ctypes.pythonapi. ctypes.LibraryLoader ctypes.memmove "
    "ctypes.memset ctypes.string_at ctypes.wstring_at ctypes.cast ctypes.CFUNCTYPE ctypes.PYFUNCTYPE "
    "ctypes.util.dllist _ctypes. mmap.mmap cffi. _cffi_backend. cuda.bindings. cuda.cuda. cuda.cudart. pycuda. "
    "hip. torch.cuda.cudart torch.ops.load_library torch.classes.load_library torch.cuda._cudart "
    "torch.UntypedStorage._new_shared_cuda torch._C._cuda_ torch.cuda.memory.CUDAPluggableAllocator "
    "torch.cuda.CUDAPluggableAllocator torch.cuda.memory.change_current_allocator frida. pynvml."
)
_READS_MEMORY = frozenset({"from_address", "in_dll", "from_buffer"})
_PRELOADING = frozenset({"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"})


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for libraries that are opened, memory that is addressed and preloading that is asked for."""
    for node, name in reading.mentions(*_NATIVE):
        yield hint("native_detours", node, f"{name} goes around Python and Triton, into native code or raw memory")
    for attribute in reading.host(ast.Attribute):
        foreign = any(name.startswith("ctypes.") for name in reading.names.of(attribute.value))
        if attribute.attr in _READS_MEMORY and foreign:
            yield hint("native_detours", attribute, f"{attribute.attr} reads or writes memory by its address")
    for constant in reading.host(ast.Constant):
        if isinstance(constant.value, str) and constant.value in _PRELOADING and _is_set(reading, constant):
            yield hint("native_detours", constant, f"{constant.value} puts another library before the real one")


def _is_set(reading: Reading, constant: ast.Constant) -> bool:
    above = reading.parent(constant)
    if isinstance(above, ast.Subscript):
        return isinstance(above.ctx, ast.Store)
    return isinstance(above, ast.Dict | ast.keyword) or (
        isinstance(above, ast.Call)
        and isinstance(above.func, ast.Attribute)
        and above.func.attr in ("putenv", "setdefault")
    )
