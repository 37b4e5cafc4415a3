"""Changes of the import path.

A module placed before the real one is imported by the whole process.  The file's own folder is ordinary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.findings import hint

STRICT = "The import path is left unchanged."
CATCHES = (
    "import sys\nsys.path.insert(0, '/tmp/mine')\n",
    "import sys as s\ns.path[:0] = ['/tmp/mine']\n",
    "import sys\nsys.meta_path.append(Finder())\n",
    "import site\nsite.addsitedir('/tmp/mine')\n",
    "import sys\nsys.path += ['/tmp/mine']\n",
)
SPARES = (
    "import os, sys\nsys.path.append(os.path.dirname(__file__))\n",
    "import sys\nfrom pathlib import Path\nHERE = Path(__file__).parent\nsys.path.insert(0, str(HERE))\n",
    "import sys\nFOLDERS = list(sys.path)\n",
    "import os\nPATH = os.path.join('a', 'b')\n",
    "import sys\nif __name__ == '__main__':\n    sys.path.insert(0, '..')\n",
)
_PATHS = frozenset({"sys.path", "sys.meta_path", "sys.path_hooks", "sys.path_importer_cache"})
_CHANGES = frozenset({"insert", "append", "extend", "remove", "clear", "pop", "__setitem__", "reverse", "sort"})


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every change of the import path except for the file's own folder."""
    for call in reading.host(ast.Call):
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _CHANGES:
            continue
        own = any(_is_own_folder(reading, item) for item in call.args)
        if reading.names.of(call.func.value) & _PATHS and not own:
            yield hint("import_shadowing", call, "changes the import path of the process")
    stores: list[ast.Assign | ast.AugAssign] = [*reading.host(ast.Assign), *reading.host(ast.AugAssign)]
    for node in stores:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            held = target.value if isinstance(target, ast.Subscript) else target
            changes = bool(reading.names.of(held) & _PATHS) and not isinstance(held, ast.Name)
            if changes and not _is_own_folder(reading, node.value):
                yield hint("import_shadowing", target, "changes the import path of the process")
    for used, name in reading.mentions("site.addsitedir", "importlib.reload", "sys.setdlopenflags", "zipimport."):
        yield hint("import_shadowing", used, f"{name} changes the imports of the process")


def _is_own_folder(reading: Reading, node: ast.expr, depth: int = 5) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            if part.id == "__file__":
                return True
            value = reading.names.only_value(part) if depth else None
            if value is not None and _is_own_folder(reading, value, depth - 1):
                return True
    return False
