"""Exceptions of a suite's code as sentences, with the next step if there is one."""

from __future__ import annotations

import traceback


def described(error: BaseException) -> str:
    """The error in one line: a missing package by its name, an error without text by the line that raised it."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"missing package {error.name.partition('.')[0]}: not installed; install it in kgtui's environment"
    text, kind = " ".join(str(error).split()), type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    if text or not frames:
        return f"{kind}: {text}" if text else kind
    return f"{kind} in line {frames[-1].lineno}: {frames[-1].line}"
