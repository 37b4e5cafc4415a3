"""A search for the answer among what lies in memory.

Somebody else's tensors can be found through the garbage collector, through references and through the allocator.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.checks import hint

STRICT = "The file uses what it is given and nothing else that lies in memory."
CATCHES = (
    "import gc\ndef f(x):\n    return [o for o in gc.get_objects() if o is not x][0]\n",
    "from gc import get_referrers as r\ndef f(x):\n    return r(x)\n",
    "import torch\ndef f(x):\n    return torch.cuda.memory_snapshot()\n",
    "import gc\ndef f(x):\n    return getattr(gc, 'get_' + 'objects')()\n",
)
SPARES = (
    "import gc\ngc.collect()\n",
    "import gc\ngc.disable()\ngc.freeze()\n",
    "import torch\ndef f(x):\n    return torch.cuda.memory_allocated()\n",
    "import weakref\nCACHE = weakref.WeakValueDictionary()\n",
)
_SEARCHES = words(
    "gc.get_objects gc.get_referrers gc.get_referents torch.cuda.memory_snapshot torch.cuda.memory._snapshot "
    "torch.cuda.memory.memory_snapshot torch._C._cuda_memorySnapshot sys.getobjects objgraph. guppy. "
    "torch.multiprocessing.reductions. torch._C._construct_storage_from_data_pointer tracemalloc. "
    "torch._C._construct_CUDA_Tensor_From_Storage_And_Metadata"
)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every function that lists what others hold in memory."""
    for node, name in reading.mentions(*_SEARCHES):
        yield hint("searches_memory", node, f"{name} finds what others hold in memory")
