"""Files that are written, for another process or another run.

An answer, or what was seen of the inputs, can be kept there.  A temporary file for a compiler is ordinary, and so is
the source of a kernel that the file writes to import it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.checks import hint

STRICT = ""
CATCHES = (
    "def f(x):\n    open('/tmp/answers', 'ab').write(x)\n",
    "from pathlib import Path as P\ndef f(x):\n    P('seen.txt').write_text('1')\n",
    "import numpy as np\ndef f(x):\n    np.save('a.npy', x)\n",
    "import os\ndef f(x):\n    os.rename('a', 'b')\n",
    "from shutil import copyfile as put\ndef f(x):\n    put('a', '/tmp/b')\n",
    "import sqlite3\nDB = sqlite3.connect('a.db')\n",
    "def f(x):\n    with open(NAME, mode='w+') as file:\n        file.write('1')\n",
)
SPARES = (
    "def f(x):\n    return open('config.json').read()\n",
    "from pathlib import Path\nSOURCE = Path(__file__).with_suffix('.cu').read_text()\n",
    "import tempfile\nwith tempfile.NamedTemporaryFile('w') as file:\n    file.write('1')\n",
    "import io\ndef f(x):\n    return io.StringIO('w').read()\n",
    "if __name__ == '__main__':\n    open('times.csv', 'w').write('1')\n",
    "def f(x, mode='w'):\n    return x\n",
    "import shutil\nHAS_TOOL = shutil.which('nvidia-smi') is not None\n",
    "from importlib import util\nPATH.write_text(SOURCE)\nSPEC = util.spec_from_file_location('k', PATH)\n",
)
_WRITERS = words(
    "numpy.save numpy.savez numpy.savetxt sqlite3.connect os.rename os.replace os.remove os.unlink os.link os.symlink "
    "os.mkfifo shutil.copy shutil.copy2 shutil.copyfile shutil.copyfileobj shutil.copytree shutil.move shutil.rmtree "
    "shutil.make_archive shutil.unpack_archive os.truncate dbm. h5py.File safetensors.torch.save_file os.chmod"
)
_METHODS = frozenset({"write_text", "write_bytes", "tofile", "symlink_to", "hardlink_to"})


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for everything that leaves something on a disk."""
    if any(True for _ in reading.mentions("importlib.util.spec_from_file_location")):
        return
    for node, name in reading.mentions(*_WRITERS):
        yield hint("writes_files", node, f"{name} leaves something for another process or another run")
    for node, _ in reading.mentions("builtins.open", "io.open", "gzip.open", "bz2.open", "lzma.open"):
        if isinstance(node, ast.Call) and _opens_for_writing(reading, node):
            yield hint("writes_files", node, "this opens a file for writing, for another process or another run")
    for attribute in reading.host(ast.Attribute):
        if attribute.attr in _METHODS and not any(
            name.startswith("tempfile.") for name in reading.names.of(attribute.value)
        ):
            yield hint(
                "writes_files", attribute, f"{attribute.attr} leaves something for another process or another run"
            )


def _opens_for_writing(reading: Reading, call: ast.Call) -> bool:
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "mode"), None)
    mode = reading.names.text(given or (call.args[1] if len(call.args) > 1 else None)) or ""
    return bool(set(mode) & set("wax+"))
