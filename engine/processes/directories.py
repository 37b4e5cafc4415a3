"""Directories of child processes: a private folder, a folder of shared memory, a user id, an environment.

Everything that a child may write is created here before it starts and removed after it has exited.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.model import Limits
from engine.sandbox.confinement import Confinement
from engine.sandbox.variables import MACHINE_VARIABLE

_KEPT_VARIABLES = (
    "PATH",
    "LD_LIBRARY_PATH",
    "LANG",
    "LC_ALL",
    "TZ",
    "CUDA_HOME",
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
)
_PREFIX, _LOCK = "kgtui-", ".lock"
_USER = "candidate"
# Memory from malloc in huge pages, where the system gives them on request: a fork copies fewer page tables, and a
# compile has fewer page faults.  Other C libraries than glibc ignore it.  Not on the CPU, where copies of outputs are
# in that memory, and take longer.
_HUGE_PAGES = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=33554432"
_ENOUGH_BYTES = 1 << 30  # containers have 64 MiB of shared memory by default, too little for some cases
_MOST_PLAIN_FILES = 500
# User ids above all that distributions and containers assign.
_FIRST_UID, _UIDS = 1 << 30, 1 << 30


@dataclass(frozen=True, kw_only=True)
class View:
    """Paths that a child may read besides libraries: files, folders, and folders that it may only list."""

    readable: tuple[str, ...]
    listed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """The folders of one child: `folder` is its home and working folder, `shared` has arenas and outputs.

    `private` are places that no candidate may read, even where its own folder contains them.
    """

    folder: Path
    shared: Path
    uid: int | None
    private: tuple[Path, ...] = ()

    @property
    def cache(self) -> Path:
        """Triton's cache for this child's compiled code."""
        return self.folder / "triton"

    def confinement(self, limits: Limits, *, address_space: bool, starts_tool: bool = False) -> Confinement:
        """Confinement of the child that uses this workspace."""
        return Confinement(
            writable=(str(self.folder), str(self.shared)),
            uid=self.uid,
            memory_bytes=limits.memory_bytes,
            processes=limits.processes,
            file_bytes=limits.output_bytes,
            address_space=address_space,
            starts_tool=starts_tool,
        )

    def view_of(self, candidate: Path | None) -> View:
        """Readable paths of the child once it has loaded a candidate of the folder `candidate`.

        A folder that contains a private place, such as a home folder, is not opened as a whole: the child may list it
        and read the plain files directly in it, except hidden ones.
        """
        own = (str(self.folder), str(self.shared))
        if candidate is None:
            return View(readable=own)
        candidate = candidate.resolve()
        if not any(place.resolve().is_relative_to(candidate) for place in self.private):
            return View(readable=(*own, str(candidate)))
        return View(readable=(*own, *_plain_files(candidate)), listed=(str(candidate),))

    def environment(self) -> dict[str, str]:
        """Variables that keep every cache of the child inside its folder and give its user a name.

        A confined child has a user id without a name, and torch requires a name when it compiles.
        """
        folder = str(self.folder)
        return {
            "HOME": folder,
            "TMPDIR": folder,
            "XDG_CACHE_HOME": folder,
            "TRITON_HOME": folder,
            "TRITON_CACHE_DIR": str(self.cache),
            "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor",
            "CUDA_CACHE_PATH": f"{folder}/cuda",
            "USER": _USER,
        }

    def remove(self) -> None:
        """Delete both folders and their content."""
        for folder in (self.folder, self.shared):
            _remove(folder)


class EngineDirectories:
    """The folders of one engine; `open_workspace` for each child, `close` at the end."""

    def __init__(self, *, private: tuple[Path, ...] = ()) -> None:
        """`private` are places that no candidate may read; the temporary folder is always added."""
        self._private = (*private, Path(tempfile.gettempdir()))
        places = (Path(tempfile.gettempdir()), _shared_memory())
        _remove_stale(places)
        prefix = f"{_PREFIX}{os.getpid()}-"
        self.folder, self.shared = (Path(tempfile.mkdtemp(prefix=prefix, dir=place)) for place in places)
        self._locks = [_lock(folder) for folder in self.folders]
        for folder in self.folders:
            folder.chmod(0o711)  # children with their own user id may traverse it and not list it
        self._opened = 0
        self._first_uid = secrets.randbelow(_UIDS)

    @property
    def folders(self) -> tuple[Path, Path]:
        """Both base folders."""
        return self.folder, self.shared

    def open_workspace(self) -> Workspace:
        """New folders for one child."""
        self._opened += 1
        name = f"{self._opened}"
        workspace = Workspace(
            folder=self.folder / name, shared=self.shared / name, uid=self._own_user(), private=self._private
        )
        for folder in (workspace.folder, workspace.shared):
            folder.mkdir(mode=0o700)
            if workspace.uid is not None:
                os.chown(folder, workspace.uid, workspace.uid)
        return workspace

    def open_kernel_cache(self) -> Path:
        """A new folder that every child can read and none can write."""
        return self._open_published("kernel-cache")

    def open_extensions(self) -> Path:
        """Create a folder as `open_kernel_cache` does, for libraries that are kept until the engine closes."""
        return self._open_published("extensions")

    def _open_published(self, purpose: str) -> Path:
        self._opened += 1
        folder = self.folder / f"{self._opened}-{purpose}"
        folder.mkdir(mode=0o755)
        return folder

    def clear_kernel_cache(self, cache_folder: Path) -> None:
        """Delete a folder that `open_kernel_cache` created."""
        _remove(cache_folder)

    def close(self) -> None:
        """Delete everything.  Safe to call twice."""
        for folder in self.folders:
            _remove(folder)
        while self._locks:
            os.close(self._locks.pop())

    def _own_user(self) -> int | None:
        """A user id that no other child of this machine has; None unless we are root and such ids exist here."""
        if os.getuid() != 0:
            return None
        # Never the id of another engine's child: a child is ended by killing all processes of its user.
        uid = _FIRST_UID + (self._first_uid + self._opened) % _UIDS
        return uid if _is_mapped(uid) else None


def base_environment(source: Mapping[str, str], *, interpreted: bool, folder: Path) -> dict[str, str]:
    """Environment of a fork server: paths of programs and libraries, without variables that may contain a key."""
    kept = {name: source[name] for name in _KEPT_VARIABLES if name in source}
    kept["PYTHONDONTWRITEBYTECODE"] = "1"
    kept["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # the order of NVML, so that device numbers agree with it
    kept["OPENBLAS_NUM_THREADS"] = "1"  # it would start threads at import, and a fork server must have none
    kept["OMP_WAIT_POLICY"] = "PASSIVE"  # waiting threads that spin would take the cores of other processes
    kept["TRITON_CACHE_DIR"] = str(folder / "triton")
    kept["HOME"] = str(folder)
    if interpreted:
        kept[MACHINE_VARIABLE] = "1"
    else:
        kept["GLIBC_TUNABLES"] = _HUGE_PAGES
    return kept


def _plain_files(folder: Path) -> tuple[str, ...]:
    """The first files of `folder` by name, neither hidden nor links."""
    try:
        with os.scandir(folder) as entries:
            plain = (e for e in entries if e.is_file(follow_symlinks=False) and not e.name.startswith("."))
            names = sorted(e.path for e in plain if _is_text(e.path))
    except OSError:
        return ()
    return tuple(names[:_MOST_PLAIN_FILES])


def _is_text(name: str) -> bool:
    """Whether a path is UTF-8, which a message to a child requires; other paths stay unreadable for it."""
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _shared_memory() -> Path:
    """The folder of shared memory; the temporary folder if there is none, or if it is small and the other larger."""
    memory, temporary = Path("/dev/shm"), Path(tempfile.gettempdir())
    if not os.access(memory, os.W_OK):
        return temporary
    free_bytes = _free_bytes(memory)
    return memory if free_bytes >= _ENOUGH_BYTES or free_bytes >= _free_bytes(temporary) else temporary


def _free_bytes(folder: Path) -> int:
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def _remove_stale(places: tuple[Path, ...]) -> None:
    """Delete folders of engines that were killed together with their fork servers."""
    for place in places:
        for folder in place.glob(f"{_PREFIX}*-*"):
            owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
            if owner.isdecimal() and not Path("/proc", owner).exists() and _is_ours(folder) and not _is_locked(folder):
                _remove(folder)


def _is_ours(folder: Path) -> bool:
    """Whether it is a real folder of this user: in a shared place any user can create our name, or a link."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _lock(folder: Path) -> int:
    """Lock the folder; a process id would mean nothing in another container that shares the place."""
    handle = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def _is_locked(folder: Path) -> bool:
    try:
        os.close(_lock(folder))
    except OSError:
        return True
    return False


def _remove(folder: Path) -> None:
    """Delete a folder and its content, including what a child has made unreadable."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for place, _, _ in os.walk(folder):
            with contextlib.suppress(OSError):
                Path(place).chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


def _is_mapped(uid: int) -> bool:
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, count = map(int, line.split())
        if first <= uid < first + count:
            return True
    return False
