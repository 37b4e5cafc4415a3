"""What a fork server imports, and compiles once, so that its forks need not.

Nothing of it may start a thread or open a device.
"""

from __future__ import annotations

import enum
import gc
import importlib
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from engine.model import import_late
from engine.sandbox import linux
from engine.sandbox.priority import NICEST, raise_niceness
from engine.sandbox.variables import DRIVER_VARIABLE, MACHINE_VARIABLE, WARM_TARGET_VARIABLE


class Family(enum.StrEnum):
    """Kinds of fork servers by their imports, which decide the children that they can fork."""

    CANDIDATES = "candidates"
    REFERENCES = "references"
    PLAIN_REFERENCES = "plain references"
    """Without the libraries that references commonly need: each process imports them itself."""


MODULES = {
    "judge": "engine.judge.main",
    "worker": "engine.worker.main",
    "compiler": "engine.compiler.main",
    "replayer": "engine.replay.main",
    "reference": "engine.reference.main",
    "sanitizer": "engine.worker.sanitized",
}
"""The modules whose `serve` is the main loop of a kind of child."""
_OF_REFERENCES = ("reference",)
_GARBAGE_OBJECTS = 10_000  # new objects per collection; of the 700 by default a call has several times as many
LATE_MODULES = ("torch.fx.experimental.symbolic_shapes",)
"""What `torch.broadcast_shapes` imports when it is first called, which takes 0.4 s in a process."""


def import_all(family: Family) -> None:
    """Import what the children of this family need.

    Raises:
        RuntimeError: an import has started a thread.
    """
    if family is Family.CANDIDATES:
        _import_for_candidates()
    else:
        _import_for_references(preloads=family is Family.REFERENCES)
    _require_one_thread()


def preparations(family: Family) -> dict[str, Callable[[], None]]:
    """What precedes the first fork of a kind of child: without a device workers do not wait for warm compilers."""
    is_without_device = family is Family.CANDIDATES and os.environ.get(MACHINE_VARIABLE) == "1"
    return {"compiler": _warm_compilers} if is_without_device else {}


def _warm_compilers() -> None:
    import engine.compiler.main

    engine.compiler.main.warm_up(os.environ[WARM_TARGET_VARIABLE])
    _require_one_thread()


def _import_for_candidates() -> None:
    """Import and run once whatever judge, workers, replayers and compilers need."""
    # The candidate's child must not import our modules after it has started: a file of the same name may be beside it.
    import_late()
    for kind, module in MODULES.items():
        if kind not in _OF_REFERENCES:
            importlib.import_module(module)
    import engine.loading.frontend.lowering

    engine.loading.frontend.lowering.share_trees()
    if os.environ.get(MACHINE_VARIABLE) == "1":
        gc.set_threshold(_GARBAGE_OBJECTS)
        import engine.compiler.cache_keys
        import engine.worker.cpu_driver.warm

        engine.compiler.cache_keys.name_by_version()
        engine.worker.cpu_driver.warm.warm_up(os.environ[WARM_TARGET_VARIABLE])
    else:
        import engine.replay.device.backend

        _warm_compilers()
    if backend := os.environ.get(DRIVER_VARIABLE):
        import engine.compiler.offline

        engine.compiler.offline.warm_backend(backend, os.environ[WARM_TARGET_VARIABLE])


def _import_for_references(*, preloads: bool) -> None:
    """Import our modules for reference processes, and the libraries that code of suites commonly needs."""
    import_late()
    for kind in _OF_REFERENCES:
        importlib.import_module(MODULES[kind])
    if preloads:
        import engine.reference.preload

        engine.reference.preload.preload()


def _require_one_thread() -> None:
    """Require that this process has one thread.

    Raises:
        RuntimeError: a fork would copy the locks that other threads hold.
    """
    threads = len(list(Path("/proc/self/task").iterdir()))
    if threads != 1:
        raise RuntimeError(f"the fork server has {threads} threads and cannot fork safely")


def try_import(module: str) -> NoReturn:
    """End this process, a fork that tries an import: with 0 if the module can be imported and starts no thread."""
    status = 1
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    raise_niceness(NICEST)  # a run may begin meanwhile
    try:
        importlib.import_module(module)
        _require_one_thread()
        status = 0
    finally:
        os._exit(status)
