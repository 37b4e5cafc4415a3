"""Work that waits for an event after the call: an exit, a collection, a hook, a signal.

The call returns at once, and the answer is computed when somebody looks, or when the object dies.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.checks import hint

STRICT = "When the call returns, its work has been given to the device; nothing is put off."
CATCHES = (
    "import atexit\natexit.register(finish)\n",
    "import weakref\ndef f(x):\n    weakref.finalize(x, finish)\n    return x\n",
    "class Late:\n    def __del__(self):\n        launch(self.x)\ndef f(x):\n    return Late(x)\n",
    "import gc\ngc.callbacks.append(finish)\n",
    "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.01)\n",
    "def f(x, cudart):\n    cudart.cudaLaunchHostFunc(x, finish, None)\n",
)
SPARES = (
    "import weakref\nCACHE = weakref.WeakKeyDictionary()\n",
    "import gc\ngc.collect()\n",
    "class Plan:\n    def __init__(self):\n        self.x = 1\n    def __call__(self, x):\n        return x\n",
    "import atexit\nif __name__ == '__main__':\n    atexit.register(print)\n",
    "import signal\nNAME = signal.SIGTERM\n",
    "import atexit, logging.handlers\nLISTENER = logging.handlers.QueueListener(None)\n"
    "atexit.register(LISTENER.stop)\n",
    "class Graph:\n    def __del__(self):\n        self.handle = None\ndef f(x):\n    return Graph()\n",
)
_LATER = words(
    "atexit.register weakref.finalize gc.callbacks. signal.signal signal.setitimer signal.alarm sys.exitfunc "
    "sys.settrace sys.setprofile sys.addaudithook threading.settrace threading.setprofile sys.monitoring. "
    "torch.autograd.graph.saved_tensors_hooks torch.cuda.memory._set_allocator_settings"
)
_CLOSING = frozenset({"stop", "close", "shutdown", "flush", "join", "cleanup", "terminate"})
_CALLBACKS = frozenset({"cudaLaunchHostFunc", "cudaStreamAddCallback", "cuLaunchHostFunc", "cuStreamAddCallback"})


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for everything that will be called later by somebody else, and for finalisers that call something."""
    for node, name in reading.mentions(*_LATER):
        if name == "atexit.register" and _only_closes(node):
            continue
        yield hint("deferred_work", node, f"{name} runs code after the call has returned")
    for function in reading.host(ast.FunctionDef):
        if function.name == "__del__" and any(isinstance(part, ast.Call) for part in reading.inside(function)):
            yield hint(
                "deferred_work", function, "this finaliser runs code when the object dies, after the call has returned"
            )
    for attribute in reading.host(ast.Attribute):
        if attribute.attr in _CALLBACKS:
            yield hint("deferred_work", attribute, f"{attribute.attr} runs code on the host when the device gets there")


def _only_closes(node: ast.expr) -> bool:
    """Whether what is registered is the method that stops a thread or closes a file."""
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    return isinstance(given, ast.Attribute) and given.attr in _CLOSING
