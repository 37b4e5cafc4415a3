"""Key to screen in the source editor, and long texts in the code view: tables to read, not tests.

Run it as a program: python -m tests.benchmarks.bench_editor [keys].  Each figure comes from a small
app in a process of its own on a pseudo-terminal of 120 x 36, to which this program plays the
terminal: it answers what the app asks, sends a key, and takes the time until the last byte of the
answer is there.  "settled" is from the start of the process to the last byte before the first key.
"""

from __future__ import annotations

import fcntl
import os
import pty
import random
import select
import signal
import statistics
import struct
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass

COLUMNS, ROWS = 120, 36
QUIET_S = 0.05
START_S = 20.0
# What the app asks when it starts: synchronised output, in-band resizing, and where the cursor is.
ANSWERS = {b"\x1b[?2026$p": b"\x1b[?2026;2$y", b"\x1b[?2048$p": b"\x1b[?2048;0$y", b"\x1b[6n": b"\x1b[1;1R"}


def main(keys: int) -> None:
    print(f"{COLUMNS} x {ROWS}, {keys} keys each\n")
    print(f"{'what':34} {'settled ms':>11} {'median ms':>10} {'p95 ms':>8} {'worst ms':>9} {'bytes/key':>10}")
    letters = [b"x"] * keys
    moves = [b"\x1b[B", b"\x1b[A"] * (keys // 2)
    pages = [b"\x1b[6~"] * keys
    for lines in (200, 2_000):
        report(f"editor, {lines} lines, letter", lambda lines=lines: edit(lines, plain=False), letters)
    report("editor, 2000 lines, not coloured", lambda: edit(2_000, plain=True), letters)
    report("editor, 2000 lines, arrow", lambda: edit(2_000, plain=False), moves)
    for lines in (500, 20_000):
        report(f"code view, {lines} lines SASS, line", lambda lines=lines: view(lines), moves)
        report(f"code view, {lines} lines SASS, page", lambda lines=lines: view(lines), pages)


def report(name: str, app: Callable[[], None], keys: list[bytes]) -> None:
    """Run the app in a child on a terminal of ours, press the keys, and print one row."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", TEXTUAL_ANIMATIONS="none")
        app()
        os._exit(0)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    try:
        start = answered(terminal, first_s=START_S, quiet_s=0.5)
        answers = []
        for key in keys:
            sent_s = time.perf_counter()
            os.write(terminal, key)
            answer = answered(terminal, first_s=5.0, quiet_s=QUIET_S)
            answers.append((1e3 * (answer.last_s - sent_s), answer.bytes))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)
    times_ms = sorted(time_ms for time_ms, _ in answers)
    median_ms, p95_ms = statistics.median(times_ms), times_ms[int(0.95 * (len(times_ms) - 1))]
    size = statistics.median(size for _, size in answers)
    settled_ms = 1e3 * (start.last_s - start.began_s)
    print(f"{name:34} {settled_ms:11.0f} {median_ms:10.1f} {p95_ms:8.1f} {times_ms[-1]:9.1f} {size:10.0f}")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came from the app until it was quiet."""

    began_s: float
    last_s: float
    bytes: int


def answered(terminal: int, *, first_s: float, quiet_s: float) -> Answer:
    """Read until nothing comes for `quiet_s`, answering as a terminal does.

    Raises:
        TimeoutError: nothing at all came within `first_s`.
    """
    began_s = last_s = time.perf_counter()
    size = 0
    while select.select([terminal], [], [], quiet_s if size else first_s)[0]:
        piece = os.read(terminal, 1 << 16)
        last_s = time.perf_counter()
        size += len(piece)
        for question, reply in ANSWERS.items():
            for _ in range(piece.count(question)):
                os.write(terminal, reply)
    if not size:
        raise TimeoutError(f"the app wrote nothing within {first_s} s")
    return Answer(began_s=began_s, last_s=last_s, bytes=size)


def edit(lines: int, *, plain: bool) -> None:
    """An app with nothing but the editor, the cursor in the middle of the file."""
    from textual.app import App, ComposeResult
    from textual.widgets import TextArea

    from kgtui.widgets.text.editor import SourceEditor

    class Bench(App[None]):
        def compose(self) -> ComposeResult:
            text = kernel_source(lines)
            yield (
                TextArea(text, show_line_numbers=True, soft_wrap=False)
                if plain
                else SourceEditor(text, read_only=False)
            )

        def on_mount(self) -> None:
            area = self.query_one(TextArea)
            area.cursor_blink = False
            area.focus()
            area.move_cursor((lines // 2, 0), center=True)

    Bench().run()


def view(lines: int) -> None:
    """An app with nothing but the code view."""
    from textual.app import App, ComposeResult

    from kgtui.widgets.text.code_view import CodeView

    class Bench(App[None]):
        def compose(self) -> ComposeResult:
            yield CodeView()

        def on_mount(self) -> None:
            code = self.query_one(CodeView)
            code.show_text(machine_code(lines), kind="sass")
            code.focus()

    Bench().run()


def kernel_source(lines: int) -> str:
    """Triton kernels as people write them, one after the other, cut to so many lines."""
    body = '''@triton.jit
def softmax_{n}(out_ptr, in_ptr, stride, columns, BLOCK: tl.constexpr):
    """Softmax of each row; one program a row."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns  # the tail of the row
    x = tl.load(in_ptr + row * stride + offsets, mask=mask, other=-float("inf"))
    x = x - tl.max(x, axis=0)
    numerator = tl.exp(x)
    tl.store(out_ptr + row * stride + offsets, numerator / tl.sum(numerator, axis=0), mask=mask)


'''
    text = "import triton\nimport triton.language as tl\n\n\n"
    text += "".join(body.replace("{n}", str(number)) for number in range(lines // 12 + 1))
    return "\n".join(text.split("\n")[:lines])


def machine_code(lines: int) -> str:
    """Lines in the form of nvdisasm's."""
    chance = random.Random(0)
    operations = (
        "LDG.E.128 R{a}, desc[UR4][R{b}.64]",
        "FFMA R{a}, R{b}, 1.4426950216293334961, R2",
        "@!P0 BRA `(.L_x_{a})",
    )
    return "".join(
        f"        /*{number * 16:04x}*/                   "
        f"{chance.choice(operations).format(a=chance.randrange(255), b=chance.randrange(255)):50} ;"
        f"  /* 0x{chance.randrange(1 << 64):016x} */\n"
        for number in range(lines)
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
