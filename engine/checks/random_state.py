"""The state of the random generators that everybody shares.

Whoever sets a seed may know the inputs that are drawn next.  A generator of its own is ordinary.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.checks import hint
from engine.model import Finding
from engine.reading import Reading
from engine.reading.words import words

STRICT = ""
CATCHES = (
    "import torch\ntorch.manual_seed(0)\n",
    "from torch import cuda\ndef f(x):\n    cuda.manual_seed_all(1)\n    return x\n",
    "import torch\ndef f(x):\n    torch.set_rng_state(S)\n    return x\n",
    "import random as r\nr.seed(3)\n",
    "import numpy as np\nnp.random.seed(3)\n",
)
SPARES = (
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


def check(reading: Reading) -> Iterator[Finding]:
    """A hint wherever the shared generators are set or read out."""
    for node, name in reading.mentions(*_STATE):
        yield hint("random_state", node, f"{name} touches the random state that inputs may be drawn from")
