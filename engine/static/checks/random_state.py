"""The state of the random generators that everybody shares.

A seed that is set in a call may tell the inputs that are drawn next.  A generator of its own is ordinary, and so is a
seed that a file sets while it is imported: inputs are drawn by another process.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.checks import hint

STRICT = ""
CATCHES = (
    "import torch\ndef f(x):\n    torch.manual_seed(0)\n    return x\n",
    "from torch import cuda\ndef f(x):\n    cuda.manual_seed_all(1)\n    return x\n",
    "import torch\ndef f(x):\n    torch.set_rng_state(S)\n    return x\n",
    "import random as r\ndef f(x):\n    r.seed(3)\n    return x\n",
    "import numpy as np\nnp.random.set_state(S)\n",
)
SPARES = (
    "import torch\nimport random\nimport numpy as np\ntorch.manual_seed(0)\n"
    "torch.cuda.manual_seed_all(0)\nrandom.seed(0)\nnp.random.seed(0)\n",
    "import torch\nG = torch.Generator(device='cuda').manual_seed(3)\n",
    "import torch\ndef f(x):\n    seed = torch.randint(0, 99, (1,))\n    return launch(x, seed)\n",
    "import numpy as np\nRNG = np.random.default_rng(3)\n",
    "import torch\nif __name__ == '__main__':\n    torch.manual_seed(0)\n",
    "@triton.jit\ndef k(y, seed):\n    tl.store(y, tl.rand(seed, tl.arange(0, 4)))\n",
)
_STATE = words(
    "torch.manual_seed torch.seed torch.initial_seed torch.set_rng_state torch.get_rng_state torch.random.manual_seed "
    "torch.random.set_rng_state torch.random.fork_rng torch.random.seed torch.cuda.manual_seed "
    "torch.cuda.manual_seed_all torch.cuda.set_rng_state torch.cuda.set_rng_state_all torch.cuda.seed "
    "torch.cuda.get_rng_state torch.cuda.random. torch.default_generator. torch.cuda.default_generators random.seed "
    "random.setstate random.getstate numpy.random.seed numpy.random.set_state numpy.random.get_state"
)

_SEEDING = frozenset({"manual_seed", "manual_seed_all", "seed"})


def check(reading: Reading) -> Iterator[Finding]:
    """A hint wherever the shared generators are set or read out."""
    for node, name in reading.mentions(*_STATE):
        if name.rpartition(".")[2] in _SEEDING and reading.function(node) is None:
            continue
        yield hint("random_state", node, f"{name} touches the random state that inputs may be drawn from")
