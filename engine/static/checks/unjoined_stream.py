"""Work on a separate stream that the caller's stream never waits for.

The call returns before the work is done, and a clock on the caller's stream does not measure it.  A fork that is
joined by wait_stream, wait_event or a synchronisation is ordinary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.findings import hint

STRICT = "All work is on the stream of the caller, or that stream waits for it."
CATCHES = (
    "import torch\nS = torch.cuda.Stream()\ndef f(x):\n    with torch.cuda.stream(S):\n        launch(x)\n"
    "    return x\n",
    "import torch\ndef f(x):\n    s = torch.cuda.Stream()\n    s.wait_stream(torch.cuda.current_stream())\n"
    "    with torch.cuda.stream(s):\n        launch(x)\n    return x\n",
    "import torch as t\nS = []\ndef f(x):\n    S.append(t.cuda.Stream())\n    with t.cuda.stream(S[0]):\n"
    "        launch(x)\n",
    "import torch\nS = torch.cuda.Stream()\ndef f(x):\n    torch.cuda.set_stream(S)\n    launch(x)\n    return x\n",
    "import torch\nclass M:\n    def __init__(self):\n        self.s = torch.cuda.Stream()\n    def f(self, x):\n"
    "        with torch.cuda.stream(self.s):\n            launch(x)\n",
)
SPARES = (
    "import torch\nS = torch.cuda.Stream()\ndef f(x):\n    S.wait_stream(torch.cuda.current_stream())\n"
    "    with torch.cuda.stream(S):\n        launch(x)\n    torch.cuda.current_stream().wait_stream(S)\n    return x\n",
    "import torch\nS = torch.cuda.Stream()\ndef f(x):\n    main = torch.cuda.current_stream()\n"
    "    done = torch.cuda.Event()\n"
    "    S.wait_event(main.record_event())\n    with torch.cuda.stream(S):\n        launch(x)\n        done.record()\n"
    "    main.wait_event(done)\n    return x\n",
    "import torch\nS = torch.cuda.Stream()\ndef f(x):\n    with torch.cuda.stream(S):\n        launch(x)\n"
    "    S.synchronize()\n",
    "import torch\ndef f(x):\n    with torch.cuda.stream(torch.cuda.current_stream()):\n        launch(x)\n",
    "import torch\ndef capture(x):\n    g = torch.cuda.CUDAGraph()\n    s = torch.cuda.Stream()\n"
    "    s.wait_stream(torch.cuda.current_stream())\n    with torch.cuda.stream(s):\n        launch(x)\n"
    "    torch.cuda.current_stream().wait_stream(s)\n    with torch.cuda.graph(g):\n        launch(x)\n    return g\n",
    "import torch\ndef f(x):\n    handle = torch.cuda.current_stream().cuda_stream\n    launch(x, handle)\n",
    "import torch\nS = torch.cuda.Stream()\ndef f(x):\n    with torch.cuda.stream(S):\n        launch(x)\n"
    "    torch.cuda.synchronize()\n",
)
_ENTERING = words(
    "torch.cuda.stream torch.cuda.set_stream torch.cuda.StreamContext torch.accelerator.set_stream torch.xpu.stream "
    "torch.xpu.set_stream torch.stream"
)
_CURRENT = ("current_stream()", "default_stream()")


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every side stream that is entered and that the function never waits for."""
    for node, _ in reading.mentions(*_ENTERING):
        if not isinstance(node, ast.Call) or not node.args or _is_current(reading, node.args[0]):
            continue
        around = reading.function(node) or reading.tree
        if not any(_joins(reading, part, node) for part in ast.walk(around) if isinstance(part, ast.Call)):
            yield hint("unjoined_stream", node, "no wait for this stream: its work may end after the call has returned")


def _is_current(reading: Reading, stream: ast.expr) -> bool:
    names = reading.names.of(stream)
    return bool(names) and all(name.endswith(_CURRENT) for name in names)


def _joins(reading: Reading, call: ast.Call, entered: ast.Call) -> bool:
    if (call.lineno, call.col_offset) <= (entered.lineno, entered.col_offset):
        return False
    side = ast.unparse(entered.args[0])
    if any(name.endswith((".cuda.synchronize", ".accelerator.synchronize")) for name in reading.names.of(call.func)):
        return True
    if not isinstance(call.func, ast.Attribute):
        return False
    owner = ast.unparse(call.func.value)
    if call.func.attr == "synchronize":
        return True
    if call.func.attr == "set_stream":
        return False
    return call.func.attr in ("wait_stream", "wait_event", "wait") and owner != side
