"""Names that concern code from outside of the file: compiler caches, native libraries, generated kernels."""

from __future__ import annotations

import ast

from engine.static.analysis import Reading
from engine.static.names.matching import NameCheck, attributes, endings, keywords, names, strings

_CACHE_VARIABLES = (
    "TRITON_(CACHE_DIR|CACHE_MANAGER|OVERRIDE_DIR|KERNEL_OVERRIDE|DUMP_DIR|HOME|PTXAS_PATH)|TORCHINDUCTOR_CACHE_DIR"
    "|TORCH_EXTENSIONS_DIR|CUDA_CACHE_PATH"
)
_PRELOADING = "LD_(PRELOAD|LIBRARY_PATH|AUDIT)|(CUDA|NVTX)_INJECTION64_PATH"


def _is_not_of_a_kernel(reading: Reading, node: ast.AST, name: str) -> bool:
    """Whether the object is not a kernel of the file: on other objects these names mean something else."""
    holder = node.value if isinstance(node, ast.Attribute) else None
    return not isinstance(holder, ast.Name) or holder.id not in {kernel.name for kernel in reading.kernels}


def _sets_no_variable(reading: Reading, node: ast.AST, name: str) -> bool:
    above = reading.parent(node)
    if isinstance(above, ast.Subscript):
        return not isinstance(above.ctx, ast.Store | ast.Del)
    if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute):
        return above.func.attr not in ("putenv", "setdefault", "pop")
    return not isinstance(above, ast.Dict)


def _compiles_no_module(reading: Reading, node: ast.AST, name: str) -> bool:
    return name.startswith(("re.", "triton."))


CODE_CHECKS = (
    NameCheck(
        name="compile_cache",
        why=("A binary planted in a compiler's cache runs in place of the source."),
        strict="The caches of the compilers are not accessed.",
        patterns=(
            names(
                "triton.runtime.cache. triton.runtime.jit.JITFunction. triton.knobs.cache.",
                "{name} accesses the compiler cache",
            ),
            attributes("device_caches|cache_hook", "{name} holds compiled kernels"),
            attributes(
                "cache|kernel_cache|_compile_cache", "{name} holds compiled kernels", unless=_is_not_of_a_kernel
            ),
            attributes(".*", "{name} is a setting of the compiler cache", owner="triton.knobs.cache", stored=True),
            strings(
                r".*(\.triton/(cache|override|dump)|torchinductor_|torch_extensions|\.nv/ComputeCache).*",
                "the string is a path of a compiler cache",
            ),
            strings(_CACHE_VARIABLES, "{name} sets where compiled kernels are loaded from", unless=_sets_no_variable),
            keywords(_CACHE_VARIABLES, "{name} sets where compiled kernels are loaded from"),
        ),
        catches=(
            "import os\nos.environ['TRITON_CACHE_DIR'] = '/tmp/mine'\n",
            "from triton.runtime.cache import get_cache_manager\nM = get_cache_manager('key')\n",
            "import os\nP = os.path.expanduser('~/.triton/cache')\n",
            "import os\nos.environ.update(TORCHINDUCTOR_CACHE_DIR='x')\n",
            "import triton\ntriton.knobs.cache.dir = 'x'\n",
            "@triton.jit\ndef k(x):\n    pass\nk.device_caches[0] = planted\n",
            "@triton.jit\ndef k(x):\n    pass\nk.kernel_cache.clear()\n",
        ),
        spares=(
            "import os\nos.environ['TRITON_PRINT_AUTOTUNING'] = '1'\n",
            "import os\nPLACE = os.environ.get('TRITON_CACHE_DIR')\n",
            "CACHE = {}\nclass M:\n    cache = {}\n    def f(self, x):\n        self.cache[x.shape] = 4\n"
            "        return launch(x)\n",
            "class Entry:\n    def __init__(self, fn):\n        self.fn, self.kernel_cache = fn, {}\n"
            "    def run(self, x):\n        return self.kernel_cache.setdefault(x.dtype, self.fn)\n",
            "import functools\n@functools.cache\ndef sms():\n    return 108\n",
            "@triton.autotune(configs=[], key=[], cache_results=True)\n@triton.jit\ndef k(x):\n    pass\n",
            "def f(x, cache):\n    cache['x'] = x\n    return launch(x)\n",
        ),
    ),
    NameCheck(
        name="native_detours",
        why=(
            "Native code can replace functions that measure, and read memory that was not given. C types and "
            "structures alone are ordinary."
        ),
        strict="No foreign functions and no raw memory: Triton launches the kernel.",
        patterns=(
            names(
                "ctypes.CDLL ctypes.PyDLL ctypes.cdll. ctypes.pydll. ctypes.pythonapi. ctypes.LibraryLoader "
                "ctypes.memmove ctypes.memset ctypes.string_at ctypes.wstring_at ctypes.cast ctypes.CFUNCTYPE "
                "ctypes.PYFUNCTYPE ctypes.util.dllist _ctypes. mmap.mmap cffi. _cffi_backend. cuda.bindings. "
                "cuda.cuda. cuda.cudart. pycuda. hip. torch.cuda.cudart torch.ops.load_library "
                "torch.classes.load_library torch.cuda._cudart torch.UntypedStorage._new_shared_cuda torch._C._cuda_ "
                "torch.cuda.memory.CUDAPluggableAllocator torch.cuda.CUDAPluggableAllocator "
                "torch.cuda.memory.change_current_allocator frida. pynvml.",
                "{name} calls native code or accesses raw memory",
            ),
            attributes("from_address|in_dll|from_buffer", "{name} accesses memory by address", owner="ctypes."),
            strings(_PRELOADING, "{name} preloads another library", unless=_sets_no_variable),
            keywords(_PRELOADING, "{name} preloads another library"),
        ),
        catches=(
            "import ctypes\nlib = ctypes.CDLL('libcuda.so.1')\n",
            "from ctypes import cdll as c\nc.LoadLibrary('libcudart.so')\n",
            "import ctypes as C\ndef f(x):\n    C.memmove(x.data_ptr(), 0, 8)\n",
            "import mmap\ndef f(x):\n    return mmap.mmap(-1, 4096)\n",
            "from cffi import FFI\nffi = FFI()\n",
            "import os\nos.environ['LD_PRELOAD'] = 'hook.so'\n",
            "import os\nos.environ.update(LD_PRELOAD='hook.so')\n",
            "import ctypes\ndef f(x):\n    return ctypes.c_float.from_address(x.data_ptr())\n",
        ),
        spares=(
            "import ctypes\nSIZE = ctypes.sizeof(ctypes.c_float)\n",
            "import ctypes\nclass Plan(ctypes.Structure):\n    _fields_ = [('n', ctypes.c_int)]\n",
            "import os\nBLOCK = int(os.environ.get('BLOCK', '64'))\n",
            "import os\nos.environ['TRITON_PRINT_AUTOTUNING'] = '1'\n",
            "import os\nos.environ.update(TRITON_PRINT_AUTOTUNING='1')\n",
            "import struct\nVALUE = struct.pack('f', 1.0)\n",
            "def f(x):\n    return x.data_ptr() % 16 == 0\n",
            "import ctypes.util\nPATH = ctypes.util.find_library('c')\n",
        ),
    ),
    NameCheck(
        name="generated_kernels",
        why=("torch.compile and its parts generate Triton from the reference."),
        strict="The kernel is written out in the file, and not generated by a compiler of PyTorch programs.",
        patterns=(
            names(
                "torch.compile torch.compiler.compile torch._inductor. torch._dynamo.optimize torch._dynamo.export "
                "torch._dynamo.optimize_assert torch.jit.script torch.jit.trace torch.jit.freeze torch.jit.load "
                "torch.jit.fuser torch.jit.optimize_for_inference torch.export. torch._export. "
                "torch._C._jit_pass_fuse functorch.compile. torch._functorch. torch.fx.symbolic_trace torch_tensorrt. "
                "torch.onnx. jax.jit numba.njit",
                "{name} generates the kernel; it is not written in this file",
            ),
            endings(
                "().compile",
                "compile() of a module generates the kernel; it is not written in this file",
                unless=_compiles_no_module,
            ),
        ),
        catches=(
            "import torch\n@torch.compile\ndef f(x):\n    return x\n",
            "import torch\nf = torch.compile(lambda x: x, mode='max-autotune')\n",
            "import torch as t\nmake = getattr(t, 'com' + 'pile')\nf = make(len)\n",
            "from torch._inductor.compile_fx import compile_fx\ndef f(x):\n    return compile_fx(x, [])\n",
            "import torch\n@torch.jit.script\ndef f(x):\n    return x\n",
            "import torch._dynamo as d\nf = d.optimize('inductor')(len)\n",
            "import torch\nclass M(torch.nn.Module):\n    pass\nm = M()\nm.compile()\n",
        ),
        spares=(
            "import re\nPATTERN = re.compile('x')\n",
            "import triton\n@triton.jit\ndef k(x):\n    pass\nhandle = triton.compile(k)\n",
            "import torch\nif torch.compiler.is_compiling():\n    pass\n",
            "import torch\n@torch.compiler.disable\ndef f(x):\n    return x\n",
            "import torch\n@torch.library.custom_op('mine::f', mutates_args=())\ndef f(x):\n    return x\n",
            "import torch\n@torch.jit.ignore\ndef f(x):\n    return x\n",
            "import torch\ndef f(x):\n    return x\nif __name__ == '__main__':\n    torch.compile(f)(1)\n",
        ),
    ),
)
