"""Code that was written to, or replaced, is told; code that was loaded or closed meanwhile is not."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from engine.worker.monitor.process.code_pages import CodePages, code_pages, rewritten

SMAPS = """\
5581a000-5581c000 r--p 00000000 fe:00 26   /usr/lib/a b.so
Size:                  8 kB
Anonymous:             8 kB
5581c000-55830000 r-xp 00002000 fe:00 26   /usr/lib/a b.so
Size:                 80 kB
KernelPageSize:        4 kB
Anonymous:             4 kB
55830000-55831000 rwxp 00002000 fe:00 26   /usr/lib/a b.so
Size:                  4 kB
Anonymous:             4 kB
7f000000-7f001000 r-xp 00000000 00:00 0
Size:                  4 kB
Anonymous:             4 kB
7f100000-7f102000 r-xp 00000000 00:00 0    [vdso]
Size:                  8 kB
Anonymous:             0 kB
"""
REWRITE = """
import ctypes, sys
from engine.worker.monitor.process.code_pages import code_pages, rewritten
libc = ctypes.CDLL(None)
before = code_pages()
address = ctypes.cast(libc.clock_getres, ctypes.c_void_p).value
page = ctypes.c_void_p(address & ~4095)
assert libc.mprotect(page, ctypes.c_size_t(8192), 7) == 0
ctypes.memmove(address, ctypes.string_at(address, 1), 1)  # the same byte: what counts is that it was written
assert libc.mprotect(page, ctypes.c_size_t(8192), 5) == 0
print(list(rewritten(before, code_pages())))
"""


def pages(mapped_kib: int, copied_kib: int = 0) -> CodePages:
    return CodePages(mapped_kib=mapped_kib, copied_kib=copied_kib)


def test_only_code_of_files_is_counted(tmp_path: Path) -> None:
    (tmp_path / "smaps").write_text(SMAPS)
    assert code_pages(tmp_path / "smaps") == {"/usr/lib/a b.so": pages(84, 8), "[vdso]": pages(8)}


def test_system_without_answer_is_not_queried_again(tmp_path: Path) -> None:
    assert code_pages(tmp_path / "nothing") is None


@pytest.mark.parametrize(
    ("before", "after", "reported"),
    [
        (pages(80), pages(80, 4), ["4 KiB of it were written to"]),
        (pages(80, 4), pages(80, 12), ["8 KiB of it were written to"]),
        (pages(80), pages(76), ["4 KiB of it were replaced"]),
        (None, pages(80, 4), ["4 KiB of it were written to"]),
        (None, pages(80), []),
        (pages(80, 4), pages(80, 4), []),
        (pages(80), None, []),
    ],
    ids=["written", "written again", "mapped over", "written when new", "loaded", "as it was", "closed"],
)
def test_code_that_changed_is_reported(before: CodePages | None, after: CodePages | None, reported: list[str]) -> None:
    then, now = ({} if one is None else {"/lib/c.so": one} for one in (before, after))
    assert list(rewritten(then, now)) == [("/lib/c.so", detail) for detail in reported]


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux tells how pages of code are mapped")
def test_overwritten_c_library_function_is_reported() -> None:
    done = subprocess.run([sys.executable, "-c", REWRITE], capture_output=True, text=True, check=True)
    assert "4 KiB of it were written to" in done.stdout
    assert done.stdout.count("KiB") == 1


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux tells how pages of code are mapped")
def test_opened_and_called_library_changes_no_code() -> None:
    before = code_pages()
    assert ctypes.CDLL("libm.so.6").cos is not None
    after = code_pages()
    assert before is not None
    assert after is not None
    assert list(rewritten(before, after)) == []
