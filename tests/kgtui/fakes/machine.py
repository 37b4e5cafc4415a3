"""The report of `kgtui doctor` on a machine without a GPU."""

from __future__ import annotations

from collections.abc import AsyncIterator

from kgtui.settings.preferences import Preferences, setting_line


async def diagnose(size: tuple[int, int], preferences: Preferences) -> AsyncIterator[tuple[str, ...]]:
    """A machine without a GPU, on which one measure is missing."""
    yield (
        "system       Linux 6.1 x86_64, 8 CPUs",
        "device       cpu 0: Triton interpreter on [8] CPUs",
        "             no GPU was found: kernels are verified on the CPU, and nothing is timed",
        "version      python 3.11.2",
        "version      torch 2.13.0",
        "confinement  dies with its parent",
        "confinement  NOT IN FORCE: no network",
        f"terminal     xterm, {size[0]}x{size[1]}, colours: 256, encoding utf-8",
        "path         sessions: /home/somebody/.local/share/kgtui/sessions.db",
        *(f"setting      {setting_line(one)}" for one in preferences.settings if one.key in ("theme", "ascii")),
    )
