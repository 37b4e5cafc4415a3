"""Exit of the application for any reason: restore the terminal, stop the children, return a status.

After an abnormal exit, unsaved text is saved and the error is reported on the restored terminal.  A signal is handled
like the key that quits: by default it would end Python at once, with the cursor hidden and the mouse captured.  Nothing
here decides when to exit.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from typing import TYPE_CHECKING

from kgtui.app.crash_recovery import CrashRecovery
from kgtui.ports.exit_code import Exit

if TYPE_CHECKING:
    from collections.abc import Callable

    from kgtui.app.application import WorkbenchApp
    from kgtui.settings.paths import Paths

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE_S = 10.0
_DIED_OF = 128  # exit status of a program ended by signal N: 128 + N


def show(app: WorkbenchApp, *, mouse: bool, paths: Paths, warn: Callable[[str], None]) -> int:
    """Run the application until it exits; returns the exit code of the program."""
    recovery = CrashRecovery(app, paths=paths)
    app.before_end = recovery.take
    asyncio.run(_shown(app, mouse=mouse))
    if app.fault is not None:
        warn("\n".join(recovery.report(app.fault)))
        return Exit.ENGINE
    if recovery.said:
        warn(recovery.said)
    return app.return_code or Exit.PASSED


async def _shown(app: WorkbenchApp, *, mouse: bool) -> None:
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, _end, app, number)
    await app.run_async(mouse=mouse)


def _end(app: WorkbenchApp, number: signal.Signals) -> None:
    app.exit(return_code=_DIED_OF + number)
    if number is signal.SIGHUP:
        # A terminal may take no output without being closed, as after ctrl+s, and Textual waits for it forever.
        last_word = threading.Timer(_PATIENCE_S, os._exit, (_DIED_OF + number,))
        last_word.daemon = True
        last_word.start()
