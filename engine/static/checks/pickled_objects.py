"""Objects whose unpickling runs code.

An evaluator that loads what a candidate hands it would run the candidate in its own process.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.checks import hint

STRICT = "The file pickles nothing."
CATCHES = (
    "class Answer:\n    def __reduce__(self):\n        return (print, ('x',))\ndef f(x):\n    return Answer()\n",
    "import pickle\ndef f(x):\n    return pickle.dumps(x)\n",
    "import torch\nW = torch.load('w.pt')\n",
    "from copyreg import pickle as p\np(int, make)\n",
    "class Answer:\n    def __getstate__(self):\n        return run()\n",
)
SPARES = (
    "import torch\nW = torch.load('w.pt', weights_only=True)\n",
    "import json\nPLAN = json.loads('{}')\n",
    "class Answer:\n    def __repr__(self):\n        return 'x'\n",
    "import copy\ndef f(x):\n    return copy.copy(x)\n",
    "import pickle\nif __name__ == '__main__':\n    pickle.dump(1, open('a', 'wb'))\n",
)
_PICKLERS = words(
    "pickle. _pickle. cPickle. cloudpickle. dill. joblib. shelve. copyreg. torch.load torch.save torch.serialization. "
    "torch.package. numpy.load"
)
_SPECIAL = frozenset(
    {"__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs_ex__", "__getnewargs__"}
)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for picklers, and for methods that decide what unpickling runs."""
    for node, name in reading.mentions(*_PICKLERS):
        if not _is_safe(node):
            yield hint("pickled_objects", node, f"{name} makes or loads objects whose loading runs code")
    for function in reading.host(ast.FunctionDef):
        if function.name in _SPECIAL and isinstance(reading.parent(function), ast.ClassDef):
            yield hint(
                "pickled_objects", function, f"{function.name} decides what runs when this object is loaded elsewhere"
            )


def _is_safe(node: ast.expr) -> bool:
    keywords = node.keywords if isinstance(node, ast.Call) else []
    return any(
        keyword.arg == "weights_only" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for keyword in keywords
    )
