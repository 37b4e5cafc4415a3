"""Threads that go on when the call has returned.

A thread can do the work after the clock has stopped, or change what was already looked at.  A pool that is left
before the call returns, and a thread that is joined, are ordinary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.checks import hint

STRICT = "Nothing runs beside the call: no threads, no executors, no timers."
CATCHES = (
    "import threading\ndef f(x):\n    threading.Thread(target=work, args=(x,), daemon=True).start()\n    return x\n",
    "from threading import Timer as T\ndef f(x):\n    T(0.01, work).start()\n",
    "from concurrent.futures import ThreadPoolExecutor\nPOOL = ThreadPoolExecutor(1)\ndef f(x):\n"
    "    POOL.submit(work, x)\n    return x\n",
    "import _thread\ndef f(x):\n    _thread.start_new_thread(work, (x,))\n",
    "import asyncio\ndef f(x):\n    asyncio.get_event_loop().run_in_executor(None, work)\n",
)
SPARES = (
    "import threading\nLOCK = threading.Lock()\ndef f(x):\n    with LOCK:\n        return x\n",
    "from concurrent.futures import ThreadPoolExecutor\ndef warm(configs):\n    with ThreadPoolExecutor(4) as pool:\n"
    "        return list(pool.map(build, configs))\n",
    "import threading\ndef f(x):\n    t = threading.Thread(target=work)\n    t.start()\n    t.join()\n    return x\n",
    "import threading\nLOCAL = threading.local()\nMAIN = threading.current_thread()\n",
    "import logging.handlers, queue\nLISTENER = logging.handlers.QueueListener(queue.SimpleQueue())\n"
    "LISTENER.start()\n",
    "import threading\ndef bench():\n    threading.Thread(target=print).start()\ndef f(x):\n    return x\n"
    "if __name__ == '__main__':\n    bench()\n",
)
_THREADS = words(
    "threading.Thread threading.Timer _thread.start_new_thread _thread.start_joinable_thread "
    "concurrent.futures.ThreadPoolExecutor concurrent.futures.thread.ThreadPoolExecutor "
    "multiprocessing.pool.ThreadPool multiprocessing.dummy. asyncio.run_coroutine_threadsafe asyncio.to_thread "
    "asyncio.get_event_loop asyncio.new_event_loop sched.scheduler joblib.Parallel"
)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every thread, timer and pool that the code does not wait for."""
    for node, name in reading.mentions(*_THREADS):
        if not _is_waited_for(reading, node):
            yield hint("background_work", node, f"{name}: this may work on after the call has returned")
    for declared in reading.host(ast.ClassDef):
        for base in declared.bases:
            if "threading.Thread" in reading.names.of(base):
                yield hint("background_work", declared, "a thread: this may work on after the call has returned")


def _is_waited_for(reading: Reading, node: ast.expr) -> bool:
    above = reading.parent(node)
    if isinstance(above, ast.withitem | ast.ClassDef):
        return True
    around = reading.function(node)
    if around is None:
        return False
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "join"
        and not isinstance(part.func.value, ast.Constant)
        and part.lineno > node.lineno
        for part in ast.walk(around)
    )
