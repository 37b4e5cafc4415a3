"""Strings that are executed as code.

Code run by exec, eval or compile is not visible in the source.  A template in the file that only expands to
arithmetic or a kernel is ordinary.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from engine.model import Finding
from engine.model.parsing import parse
from engine.static.analysis import Reading
from engine.static.findings import hint

STRICT = "No code is made at run time from text, and none is hidden in data."
CATCHES = (
    "exec(open('other.py').read())\n",
    "import base64\nexec(base64.b64decode('aW1wb3J0IG9z').decode())\n",
    "def f(x, code):\n    return eval(code)\n",
    "exec('import tor' + 'ch')\n",
    'exec("def g(x):\\n    return torch.softmax(x, -1)\\n")\n',
    "import builtins\nrun = getattr(builtins, 'ex' + 'ec')\nrun(SOURCE)\n",
    "code = compile(SOURCE, 'name', 'exec')\n",
    "import types\ndef f(x, code):\n    return types.FunctionType(code, globals())(x)\n",
    "import marshal\ndef f(x):\n    return marshal.loads(x)\n",
)
SPARES = (
    "import re\nPATTERN = re.compile('x')\n",
    "import ast\nVALUE = ast.literal_eval('1')\n",
    "model.eval()\n",
    "exec('def g(x):\\n    return x + 1\\n')\n",
    "WIDTH = 4\nexec(f'def g{WIDTH}(x):\\n    return x * {WIDTH}\\n')\n",
    "TEMPLATE = '@triton.jit\\ndef k_{name}(x):\\n    tl.store(x, {value})\\n'\n"
    "exec(TEMPLATE.format(name='a', value=1))\n",
    "import triton\nhandle = triton.compile(source)\n",
    "def compile(x):\n    return x\ncompile(1)\n",
    "if __name__ == '__main__':\n    exec(open('bench.py').read())\n",
)
_RUNNERS = ("builtins.exec", "builtins.eval", "builtins.compile", "code.InteractiveInterpreter", "runpy.")
_MAKERS = ("types.FunctionType", "types.CodeType", "types.LambdaType", "marshal.loads", "marshal.load", "dis.")
_MOST_CHARACTERS = 1 << 17
_HOLE = re.compile(r"\{\w*(![rsa])?(:[^{}]*)?\}")
_INNOCENT = frozenset(
    {"triton", "tl", "math", "language", "jit", "range", "min", "max", "len", "int", "float", "abs", "_unseen"}
)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint wherever text becomes code, unless the text is known here and refers to nothing but itself and Triton."""
    for node, name in reading.mentions(*_RUNNERS):
        if not _is_plain(reading, node):
            said = name.removeprefix("builtins.")
            yield hint("runs_text", node, f"{said} executes code that is not visible in this file")
    for node, name in reading.mentions(*_MAKERS):
        yield hint("runs_text", node, f"{name} creates code from data")


def _is_plain(reading: Reading, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or not node.args or _is_assembled(reading, node.args[0]):
        return False
    text = reading.names.text(node.args[0]) or reading.names.template(node.args[0])
    if text is None or len(text) > _MOST_CHARACTERS:
        return False
    try:
        tree = parse(_HOLE.sub("_unseen", text).strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if any(isinstance(part, ast.Import | ast.ImportFrom) for part in ast.walk(tree)):
        return False
    made = {
        getattr(part, "id", getattr(part, "arg", getattr(part, "name", "")))
        for part in ast.walk(tree)
        if not isinstance(part, ast.Name) or isinstance(part.ctx, ast.Store)
    }
    read = {part.id for part in ast.walk(tree) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    return read <= made | _INNOCENT


def _is_assembled(reading: Reading, node: ast.expr) -> bool:
    """Whether the text is decoded, which templates do not need."""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
    return any("decode" in (part.func.attr if isinstance(part.func, ast.Attribute) else "") for part in parts)
