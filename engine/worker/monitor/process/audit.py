"""Effects of the candidate's code on files, processes, sockets and live objects, by Python's audit events.

Only the candidate's own actions count: the caller must be a line of the candidate, with nothing between it and the
action but the standard library.  Actions of torch and Triton on its behalf, such as compiling, are theirs.  Code that
knows of the hook can avoid it, so that an empty record proves nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from triton import knobs

from engine.loading.installed import PACKAGE_FOLDERS, is_in_folder, is_in_package
from engine.protocol.monitoring import MOST_ACTIONS, ActionKind, ActionSeen, ChangeKind, ChangeSeen
from engine.worker.monitor.operators.torch_hooks import HOOK_EVENT

_OURS = f"{Path(__file__).parents[3]}{os.sep}"
_MOST_FRAMES = 200
_DETAIL_CHARACTERS = 200
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_STDLIB = (sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["platstdlib"])
_PACKAGES = tuple(path for path in sys.path if path.endswith(PACKAGE_FOLDERS))
_READABLE = tuple({
    *_STDLIB, *_PACKAGES, sys.prefix, sys.base_prefix, "/usr/share", "/usr/lib", "/lib", "/etc", "/sys", "/dev",
})  # fmt: skip
_SHARED = "/dev/shm/"
_MEASURES = re.compile(r"/proc/(?:cpuinfo|meminfo|driver/.*|(?:self|\d+)/(?:statm?|status|limits|cgroup))")
_ON_REQUEST = re.compile(
    r"/torch/(?:serialization|hub|storage|utils/cpp_extension|multiprocessing/|_inductor/(?:codecache|cpp_builder))"
    r"|/triton/runtime/build\.py"
)
"""Files of torch and Triton that read, write, load or start only what their caller names: those are its actions."""
_UNUSUAL = frozenset({
    "apex", "cuda", "cudnn", "cupy", "cutlass", "deepspeed", "fla", "flash_attn", "flashinfer", "jax", "numba",
    "pycuda", "requests", "tensorflow", "vllm", "xformers",
})  # fmt: skip
_PROCESSES = frozenset({
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn",
    "os.kill", "os.killpg",
})  # fmt: skip
_FRAMES = frozenset(
    {
        "sys._getframe",
        "sys._current_frames",
        "sys._current_exceptions",
        "sys.settrace",
        "sys.setprofile",
        "sys.addaudithook",
        "sys.monitoring.register_callback",
    }
)
_KINDS: dict[str, ActionKind] = {
    **dict.fromkeys(("open", "os.listdir", "os.scandir"), ActionKind.FILE_READ),
    "exec": ActionKind.EXEC,
    "marshal.loads": ActionKind.EXEC,
    "code.__new__": ActionKind.EXEC,
    "import": ActionKind.IMPORT,
    "mmap.__new__": ActionKind.MEMORY,
    **dict.fromkeys(("ctypes.dlopen", "ctypes.dlsym", "ctypes.dlsym/handle"), ActionKind.LIBRARY),
    **dict.fromkeys(("ctypes.cdata", "ctypes.string_at", "ctypes.wstring_at", "ctypes.memset"), ActionKind.MEMORY),
    **dict.fromkeys(("gc.get_objects", "gc.get_referrers", "gc.get_referents"), ActionKind.OBJECTS),
    **dict.fromkeys(("socket.__new__", "socket.connect", "socket.bind", "socket.getaddrinfo"), ActionKind.SOCKET),
    **dict.fromkeys(_PROCESSES, ActionKind.PROCESS),
    **dict.fromkeys(_FRAMES, ActionKind.FRAMES),
}
# The standard library raises these itself: named tuples, data classes, logging.
_ONLY_DIRECTLY = frozenset({"exec", "marshal.loads", "code.__new__", *_FRAMES})
_WITH_ARGUMENT = frozenset({"os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn", "socket.getaddrinfo"})
_GO_BETWEENS = ("inspect.py", "runpy.py", "code.py")


class Audit:
    """Records actions of a candidate while it is on; its hook, once installed, stays for the life of the process."""

    def __init__(self) -> None:
        self._is_on = False
        self._is_loading = False
        self._path = ""
        self._workspace = ""
        self._import_folder = ""
        self._cache = f"{knobs.cache.dir}{os.sep}"
        self._writable = (f"{tempfile.gettempdir()}{os.sep}", _SHARED)
        self._times: dict[tuple[ActionKind, str, int | None, bool], int] = {}
        self._bypasses: dict[str, int | None] = {}
        self.overfull = False

    def install(self, path: Path, folder: Path | None) -> None:
        """Record audit events of the candidate at `path`, and of the modules that it imports from `folder`."""
        self._path = str(path)
        self._workspace = f"{path.parents[1]}{os.sep}"
        self._import_folder = f"{folder}{os.sep}" if folder is not None else self._workspace
        sys.addaudithook(self._hook())

    @contextlib.contextmanager
    def on(self, *, loading: bool = False) -> Iterator[None]:
        """Context in which actions are recorded; `loading` is reported with them."""
        self._is_on, self._is_loading = True, loading
        try:
            yield
        finally:
            self._is_on = False

    def seen(self) -> tuple[ActionSeen, ...]:
        """Actions that were recorded up to now."""
        return tuple(
            ActionSeen(kind=kind, detail=detail, line=line, loading=loading, times=times)
            for (kind, detail, line, loading), times in self._times.items()
        )

    def bypasses(self) -> tuple[ChangeSeen, ...]:
        """The hooked functions around the ledger that were called, as changes of the operator records."""
        return tuple(
            ChangeSeen(
                kind=ChangeKind.FUNCTION,
                name="the recording of torch operators",
                detail=f"{name} was used" + (f" in line {line}" if line is not None else ""),
            )
            for name, line in self._bypasses.items()
        )

    def _hook(self) -> Callable[[str, tuple[Any, ...]], None]:
        kinds = {*_KINDS, HOOK_EVENT}

        def hook(event: str, args: tuple[Any, ...]) -> None:  # Any: every event has its own
            if not self._is_on or event not in kinds:
                return
            try:
                if event == HOOK_EVENT:
                    self._note_hook(str(args[0]))
                else:
                    self._note(event, args)
            except Exception:  # an exception here would stop the audited action and reveal the hook to the candidate
                self.overfull = True

        return hook

    def _note(self, event: str, args: tuple[Any, ...]) -> None:
        is_native = event == "import" and len(args) > 1 and isinstance(args[1], str)
        caller = _caller()
        if event == "open" and _shows_a_warning(caller, args[0]):
            return
        frame = self._author(caller, directly=event in _ONLY_DIRECTLY, importing=is_native)
        if frame is None or (action := self._action(event, args)) is None:
            return
        kind, detail = action
        line = frame.f_lineno if frame.f_code.co_filename == self._path else None
        text = detail[:_DETAIL_CHARACTERS].encode("utf-8", "backslashreplace").decode()[:_DETAIL_CHARACTERS]
        key = (kind, text, line, self._is_loading)
        if key not in self._times and len(self._times) >= MOST_ACTIONS:
            self.overfull = True
            return
        self._times[key] = self._times.get(key, 0) + 1

    def _note_hook(self, name: str) -> None:
        wrapper = _caller()
        frame = self._author(wrapper.f_back if wrapper is not None else None, directly=True)
        if frame is not None:
            line = frame.f_lineno if frame.f_code.co_filename == self._path else None
            self._bypasses.setdefault(name[:_DETAIL_CHARACTERS], line)

    def _author(self, frame: FrameType | None, *, directly: bool, importing: bool = False) -> FrameType | None:
        """The candidate's frame that acted; None if other code is in between or no frame is the candidate's.

        Python's own importer is between where a native module is loaded by `importing`.
        """
        for _ in range(_MOST_FRAMES):
            if frame is None:
                return None
            file = frame.f_code.co_filename
            if self._is_authors(file):
                return frame
            if directly and not file.endswith(_GO_BETWEENS) and not _is_made_up(file):
                return None
            if (file.startswith("<frozen importlib") and not importing) or _is_machinery(file):
                return None
            frame = frame.f_back
        return None

    def _is_authors(self, file: str) -> bool:
        return file.startswith(self._workspace) or is_in_folder(file, self._import_folder)

    def _action(self, event: str, args: tuple[Any, ...]) -> tuple[ActionKind, str] | None:
        kind = _KINDS[event]
        match event:
            case "open":
                return self._opened(*args[:3])
            case "os.listdir" | "os.scandir":
                return self._opened(args[0], None, None)
            case "mmap.__new__":
                target = str(Path(f"/proc/self/fd/{int(args[0])}").readlink()) if int(args[0]) >= 0 else ""
                return (kind, f"mmap of {target}") if target.startswith(("/proc", "/dev")) else None
            case "import":
                name, file = str(args[0]), args[1] if len(args) > 1 else None
                if isinstance(file, str) and self._is_its_own(file):
                    return ActionKind.LIBRARY, f"dlopen of its own {file}"
                return (kind, name) if name.partition(".")[0] in _UNUSUAL else None
            case "exec":
                return kind, "code made at run time"
            case "subprocess.Popen":
                return kind, f"subprocess {_plain(args[0])}"
            case "ctypes.dlopen":
                return self._library(args[0])
            case "ctypes.dlsym" | "ctypes.dlsym/handle":
                return kind, f"dlsym {_plain(args[1])}"
            case "socket.connect" | "socket.bind":
                return kind, f"{event} {_plain(args[1])}"
        return kind, f"{event} {_plain(args[0])}" if event in _WITH_ARGUMENT else event

    def _is_its_own(self, library: str) -> bool:
        """Whether a library of machine code came with the candidate, or was made by it."""
        return self._is_authors(library) or library.startswith(self._writable)

    def _library(self, name: object) -> tuple[ActionKind, str] | None:
        if name is None:
            return None
        place = os.path.realpath(os.fsdecode(name)) if isinstance(name, str | bytes | os.PathLike) else ""
        is_its_own = os.sep in str(name) and self._is_its_own(place)
        return ActionKind.LIBRARY, f"{'dlopen of its own' if is_its_own else 'dlopen'} {_plain(name)}"

    def _opened(self, path: object, mode: object, flags: object) -> tuple[ActionKind, str] | None:
        if not isinstance(path, str | bytes | os.PathLike):
            return None
        place = os.path.abspath(os.fsdecode(path))  # noqa: PTH100  # Path.resolve would ask the file system
        writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else False
        if writes or (isinstance(flags, int) and flags & _WRITING):
            if place.startswith(self._cache):
                return ActionKind.FILE_WRITTEN, f"in the compiler's cache: {place}"
            is_its_own = f"{place}{os.sep}".startswith(self._workspace) or place == os.devnull
            return None if is_its_own else (ActionKind.FILE_WRITTEN, place)
        inside = f"{place}{os.sep}"
        is_known = inside.startswith((self._workspace, self._import_folder, *_READABLE))
        if (is_known and not inside.startswith(_SHARED)) or _MEASURES.fullmatch(place):
            return None
        return ActionKind.FILE_READ, place


def _caller() -> FrameType | None:
    """The frame that raised the event; from an exception, since sys._getframe raises another event."""
    try:
        raise LookupError
    except LookupError as error:
        assert error.__traceback__ is not None
        frame = error.__traceback__.tb_frame.f_back  # frames: `_note`, the hook, then the code that raised the event
    return frame.f_back.f_back if frame is not None and frame.f_back is not None else None


def _shows_a_warning(frame: FrameType | None, path: object) -> bool:
    """Whether Python reads a source file to show the line of a warning, which may be that of the caller."""
    if not isinstance(path, str) or not path.endswith(".py"):
        return False
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return False
        if frame.f_code.co_filename == warnings.__file__:
            return True
        frame = frame.f_back
    return False


def _is_machinery(file: str) -> bool:
    """Whether this is code of torch, Triton or kgtui that acts of its own accord."""
    if _ON_REQUEST.search(file):
        return False
    return is_in_package(file, "torch", "triton") or file.startswith(_OURS)


def _is_made_up(file: str) -> bool:
    """Whether the code comes from a string and no file; the caller that ran the string is above it."""
    return not file.startswith(("/", "<frozen"))


def _plain(value: object) -> str:
    """Short text of an event's arguments; never calls a candidate's `__repr__`."""
    if isinstance(value, list | tuple):
        return " ".join(_plain(part) for part in value[:4])
    if isinstance(value, bytes):
        return value[:_DETAIL_CHARACTERS].decode("utf-8", "replace")
    return str(value) if type(value) in (str, int) else type(value).__name__
