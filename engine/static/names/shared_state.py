"""Names that concern shared state: memory, random state, numerics, the L2 cache, files."""

from __future__ import annotations

import ast

from engine.static.analysis import Reading
from engine.static.names.matching import NameCheck, attributes, functions, names, strings

_PERSISTING = ".*(PersistingL2|PERSISTING_L2|accessPolicyWindow|AccessPropertyPersisting|ACCESS_POLICY_WINDOW).*"
_SEEDING = frozenset({"manual_seed", "manual_seed_all", "seed"})


def _loads_weights_only(reading: Reading, node: ast.AST, name: str) -> bool:
    return _keyword_is(node, "weights_only", value=True)


def _is_no_method(reading: Reading, node: ast.AST, name: str) -> bool:
    return not isinstance(reading.parent(node), ast.ClassDef)


def _seeds_at_import(reading: Reading, node: ast.AST, name: str) -> bool:
    """Whether a seed is set at import: inputs are drawn by another process."""
    return name.rpartition(".")[2] in _SEEDING and reading.function(node) is None


def _is_autocast_or_highest(reading: Reading, node: ast.AST, name: str) -> bool:
    given = reading.names.text(node.args[0]) if isinstance(node, ast.Call) and node.args else None
    return name.endswith("autocast") or (name == "torch.set_float32_matmul_precision" and given == "highest")


def _is_disabled(reading: Reading, node: ast.AST, name: str) -> bool:
    return _keyword_is(node, "enabled", value=False)


def _is_switched_off(reading: Reading, node: ast.AST, name: str) -> bool:
    above = reading.parent(node)
    value = above.value if isinstance(above, ast.Assign) else None
    return "allow_" in name and isinstance(value, ast.Constant) and value.value is False


def _sets_no_backend(reading: Reading, node: ast.AST, name: str) -> bool:
    holder = reading.names.of(node.args[0]) if isinstance(node, ast.Call) and node.args else ()
    return not any(one.startswith("torch.backends") for one in holder)


def _imports_what_it_writes(reading: Reading) -> bool:
    return any(True for _ in reading.mentions("importlib.util.spec_from_file_location"))


def _opens_for_reading(reading: Reading, node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Call):
        return True
    given = next((keyword.value for keyword in node.keywords if keyword.arg == "mode"), None)
    mode = reading.names.text(given or (node.args[1] if len(node.args) > 1 else None)) or ""
    return not set(mode) & set("wax+")


def _is_temporary(reading: Reading, node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and any(one.startswith("tempfile.") for one in reading.names.of(node.value))


def _keyword_is(node: ast.AST, wanted: str, *, value: bool) -> bool:
    keywords = node.keywords if isinstance(node, ast.Call) else []
    return any(
        keyword.arg == wanted and isinstance(keyword.value, ast.Constant) and keyword.value.value is value
        for keyword in keywords
    )


STATE_CHECKS = (
    NameCheck(
        name="searches_memory",
        why=("The answer can be found through the garbage collector, references and the allocator."),
        strict="The file reads its arguments and no other objects in memory.",
        patterns=(
            names(
                "gc.get_objects gc.get_referrers gc.get_referents torch.cuda.memory_snapshot "
                "torch.cuda.memory._snapshot torch.cuda.memory.memory_snapshot torch._C._cuda_memorySnapshot "
                "sys.getobjects objgraph. guppy. torch.multiprocessing.reductions. "
                "torch._C._construct_storage_from_data_pointer tracemalloc. "
                "torch._C._construct_CUDA_Tensor_From_Storage_And_Metadata",
                "{name} lists objects or allocations of other code",
            ),
        ),
        catches=(
            "import gc\ndef f(x):\n    return [o for o in gc.get_objects() if o is not x][0]\n",
            "from gc import get_referrers as r\ndef f(x):\n    return r(x)\n",
            "import torch\ndef f(x):\n    return torch.cuda.memory_snapshot()\n",
            "import gc\ndef f(x):\n    return getattr(gc, 'get_' + 'objects')()\n",
        ),
        spares=(
            "import gc\ngc.collect()\n",
            "import gc\ngc.disable()\ngc.freeze()\n",
            "import torch\ndef f(x):\n    return torch.cuda.memory_allocated()\n",
            "import weakref\nCACHE = weakref.WeakValueDictionary()\n",
        ),
    ),
    NameCheck(
        name="pickled_objects",
        why=("An evaluator that unpickles a candidate's object runs the candidate in its own process."),
        strict="The file pickles nothing.",
        patterns=(
            names(
                "pickle. _pickle. cPickle. cloudpickle. dill. joblib. shelve. copyreg. torch.load torch.save "
                "torch.serialization. torch.package. numpy.load",
                "{name}: unpickling can run code",
                unless=_loads_weights_only,
            ),
            functions(
                "__(reduce|reduce_ex|getstate|setstate|getnewargs|getnewargs_ex)__",
                "{name} runs code on pickling or unpickling",
                unless=_is_no_method,
            ),
        ),
        catches=(
            "class Answer:\n    def __reduce__(self):\n        return (print, ('x',))\ndef f(x):\n"
            "    return Answer()\n",
            "import pickle\ndef f(x):\n    return pickle.dumps(x)\n",
            "import torch\nW = torch.load('w.pt')\n",
            "from copyreg import pickle as p\np(int, make)\n",
            "class Answer:\n    def __getstate__(self):\n        return run()\n",
        ),
        spares=(
            "import torch\nW = torch.load('w.pt', weights_only=True)\n",
            "import json\nPLAN = json.loads('{}')\n",
            "class Answer:\n    def __repr__(self):\n        return 'x'\n",
            "import copy\ndef f(x):\n    return copy.copy(x)\n",
            "import pickle\nif __name__ == '__main__':\n    pickle.dump(1, open('a', 'wb'))\n",
        ),
    ),
    NameCheck(
        name="random_state",
        why=(
            "A seed set in a call can predict the next inputs. Own generators, and a seed set at import, are ordinary."
        ),
        strict="",
        patterns=(
            names(
                "torch.manual_seed torch.seed torch.set_rng_state torch.random.manual_seed torch.random.set_rng_state "
                "torch.random.fork_rng torch.random.seed torch.cuda.manual_seed torch.cuda.manual_seed_all "
                "torch.cuda.set_rng_state torch.cuda.set_rng_state_all torch.cuda.seed torch.cuda.random. random.seed "
                "random.setstate numpy.random.seed numpy.random.set_state",
                "{name} changes the shared random state",
                unless=_seeds_at_import,
            ),
        ),
        catches=(
            "import torch\ndef f(x):\n    torch.manual_seed(0)\n    return x\n",
            "from torch import cuda\ndef f(x):\n    cuda.manual_seed_all(1)\n    return x\n",
            "import torch\ndef f(x):\n    torch.set_rng_state(S)\n    return x\n",
            "import random as r\ndef f(x):\n    r.seed(3)\n    return x\n",
            "import numpy as np\nnp.random.set_state(S)\n",
        ),
        spares=(
            "import torch\nimport random\nimport numpy as np\ntorch.manual_seed(0)\n"
            "torch.cuda.manual_seed_all(0)\nrandom.seed(0)\nnp.random.seed(0)\n",
            "import torch\nG = torch.Generator(device='cuda').manual_seed(3)\n",
            "import torch\ndef f(x):\n    seed = torch.randint(0, 99, (1,))\n    return launch(x, seed)\n",
            "import numpy as np\nRNG = np.random.default_rng(3)\n",
            "import torch\nif __name__ == '__main__':\n    torch.manual_seed(0)\n",
            "@triton.jit\ndef k(y, seed):\n    tl.store(y, tl.rand(seed, tl.arange(0, 4)))\n",
        ),
    ),
    NameCheck(
        name="reads_random_state",
        why=(
            "The state of the generators shows which inputs come next. An operator that draws numbers may read it, for "
            "the seed and the offset of its kernel."
        ),
        strict="",
        patterns=(
            names(
                "torch.initial_seed torch.get_rng_state torch.cuda.get_rng_state torch.cuda.initial_seed "
                "torch.default_generator. torch.cuda.default_generators random.getstate numpy.random.get_state",
                "{name} reads the shared random state",
            ),
        ),
        catches=(
            "import torch\ndef f(x):\n    return launch(x, torch.initial_seed())\n",
            "import torch\ndef f(x):\n    return launch(x, torch.cuda.default_generators[0].get_state())\n",
        ),
        spares=(
            "import torch\nG = torch.Generator(device='cuda')\ndef f(x):\n    return launch(x, G.initial_seed())\n",
            "import torch\ndef f(x):\n    seed = torch.randint(0, 99, (1,))\n    return launch(x, seed)\n",
        ),
    ),
    NameCheck(
        name="numerics_state",
        why=("Precision flags, default types and autocast change a reference in the same process too."),
        strict="The numerics of the process are left unchanged.",
        patterns=(
            names(
                "torch.set_float32_matmul_precision torch.set_default_dtype torch.set_default_tensor_type "
                "torch.set_default_device torch.use_deterministic_algorithms torch.set_deterministic_debug_mode "
                "torch.set_flush_denormal torch.autocast torch.cuda.amp.autocast torch.amp.autocast "
                "torch.amp.autocast_mode.autocast torch.cpu.amp.autocast torch.set_autocast_enabled "
                "torch.set_autocast_dtype torch.set_num_threads torch.set_num_interop_threads "
                "torch.backends.cudnn.flags torch.backends.cuda.sdp_kernel torch.cuda.set_per_process_memory_fraction "
                "torch.set_grad_enabled torch.set_warn_always numpy.seterr "
                "torch.backends.cuda.preferred_linalg_library torch.backends.cuda.preferred_blas_library "
                "torch.set_autocast_gpu_dtype",
                "{name} changes process-wide numerics",
                unless=_is_autocast_or_highest,
            ),
            names(
                "torch.autocast torch.cuda.amp.autocast torch.amp.autocast torch.amp.autocast_mode.autocast "
                "torch.cpu.amp.autocast",
                "{name} lowers the precision inside its block",
                unless=_is_disabled,
            ),
            attributes(
                ".*", "{name} is a process-wide setting", owner="torch.backends", stored=True, unless=_is_switched_off
            ),
            names("builtins.setattr", "torch.backends holds process-wide settings", unless=_sets_no_backend),
        ),
        catches=(
            "import torch\ntorch.backends.cuda.matmul.allow_tf32 = True\n",
            "import torch as t\nB = t.backends\nB.cudnn.benchmark = True\n",
            "import torch\ntorch.set_float32_matmul_precision('medium')\n",
            "import torch\ndef f(x):\n    torch.set_default_dtype(torch.float16)\n    return x\n",
            "import torch\ndef f(x):\n    with torch.autocast('cuda'):\n        return launch(x)\n",
            "import torch\nsetattr(torch.backends.cudnn, 'allow' + '_tf32', True)\n",
            "import torch\ntorch.set_num_threads(1)\n",
        ),
        spares=(
            "import torch\nTF32 = torch.backends.cuda.matmul.allow_tf32\n",
            "import torch\nPRECISION = torch.get_float32_matmul_precision()\n",
            "import torch\ndef f(x):\n    return torch.is_autocast_enabled()\n",
            "import torch\nif __name__ == '__main__':\n    torch.backends.cuda.matmul.allow_tf32 = True\n",
            "@triton.jit\ndef k(x, y):\n    tl.store(y, tl.dot(x, x, allow_tf32=True))\n",
            "import torch\ndef f(x):\n    with torch.no_grad():\n        return launch(x)\n",
            "import torch\ntorch.backends.cuda.matmul.allow_tf32 = False\n"
            "torch.set_float32_matmul_precision('highest')\n",
            "class M:\n    def __init__(self):\n        self.allow_tf32 = True\n",
            "import torch\n@torch.autocast('cuda', enabled=False)\ndef f(x):\n    return launch(x)\n",
        ),
    ),
    NameCheck(
        name="persisting_cache",
        why=("Persisting lines survive a flush of the L2 cache, so that timed calls find warm inputs."),
        strict="The cache settings of the device are left unchanged.",
        patterns=(
            attributes(_PERSISTING, "{name} reserves lines of the L2 cache"),
            strings(_PERSISTING, "the string reserves lines of the L2 cache"),
        ),
        catches=(
            "def f(x, cudart):\n    "
            "cudart.cudaDeviceSetLimit(cudart.cudaLimit.cudaLimitPersistingL2CacheSize, 1 << 20)\n",
            "CUDA = 'attr.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;'\n",
            "def f(x, cuda):\n    cuda.cuCtxSetLimit(cuda.CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0)\n",
        ),
        spares=(
            "@triton.jit\ndef k(x, y):\n    tl.store(y, tl.load(x, eviction_policy='evict_last'))\n",
            "def f(x):\n    return launch(x, persistent=True)\n",
            "'''A persistent kernel: as many programs as multiprocessors.'''\n",
        ),
    ),
    NameCheck(
        name="writes_files",
        why=(
            "An answer, or the inputs, can be kept on disk. A temporary file, and a kernel's source written to be "
            "imported, are ordinary."
        ),
        strict="",
        patterns=(
            names(
                "numpy.save numpy.savez numpy.savetxt sqlite3.connect os.rename os.replace os.remove os.unlink "
                "os.link os.symlink os.mkfifo shutil.copy shutil.copy2 shutil.copyfile shutil.copyfileobj "
                "shutil.copytree shutil.move shutil.rmtree shutil.make_archive shutil.unpack_archive os.truncate dbm. "
                "h5py.File safetensors.torch.save_file os.chmod",
                "{name} writes to disk",
            ),
            names(
                "builtins.open io.open gzip.open bz2.open lzma.open",
                "{name} opens a file for writing",
                unless=_opens_for_reading,
            ),
            attributes(
                "write_text|write_bytes|tofile|symlink_to|hardlink_to", "{name} writes to disk", unless=_is_temporary
            ),
        ),
        unless=_imports_what_it_writes,
        catches=(
            "def f(x):\n    open('/tmp/answers', 'ab').write(x)\n",
            "from pathlib import Path as P\ndef f(x):\n    P('seen.txt').write_text('1')\n",
            "import numpy as np\ndef f(x):\n    np.save('a.npy', x)\n",
            "import os\ndef f(x):\n    os.rename('a', 'b')\n",
            "from shutil import copyfile as put\ndef f(x):\n    put('a', '/tmp/b')\n",
            "import sqlite3\nDB = sqlite3.connect('a.db')\n",
            "def f(x):\n    with open(NAME, mode='w+') as file:\n        file.write('1')\n",
        ),
        spares=(
            "def f(x):\n    return open('config.json').read()\n",
            "from pathlib import Path\nSOURCE = Path(__file__).with_suffix('.cu').read_text()\n",
            "import tempfile\nwith tempfile.NamedTemporaryFile('w') as file:\n    file.write('1')\n",
            "import io\ndef f(x):\n    return io.StringIO('w').read()\n",
            "if __name__ == '__main__':\n    open('times.csv', 'w').write('1')\n",
            "def f(x, mode='w'):\n    return x\n",
            "import shutil\nHAS_TOOL = shutil.which('nvidia-smi') is not None\n",
            "from importlib import util\nPATH.write_text(SOURCE)\nSPEC = util.spec_from_file_location('k', PATH)\n",
        ),
    ),
)
