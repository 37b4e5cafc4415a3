"""Collects the kernels that are created in a compiler process, and finds the kernel of a recorded launch."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from triton.runtime.jit import JITFunction

from engine.errors import UnsupportedError
from engine.loading import generated
from engine.loading.closures import closure_of, identity_of
from engine.model import Launch

_MESSAGE_CHARACTERS = 300

# Triton's kernels are not typed: they are Any throughout this file.


class CandidateKernels:
    """Remembers every kernel that is created from now on; one per process."""

    def __init__(self) -> None:
        self._kernels: list[Any] = []
        self._kernels_by_text: dict[str, list[Any]] = {}
        make = JITFunction.__init__

        def remember(kernel: Any, *args: Any, **kwargs: Any) -> None:
            make(kernel, *args, **kwargs)
            self._kernels.append(kernel)

        JITFunction.__init__ = remember

    def of_launch(self, launch: Launch) -> Any:
        """The kernel of a launch; a kernel of a file that the candidate wrote is made from the text of that file.

        Raises:
            UnsupportedError: it is created by a call of the entry, or that file cannot be imported.
        """
        kernels = self._of_text(launch.generated_source) if launch.generated_source else self._kernels
        return _find(kernels, launch.kernel, launch.line, launch.closure)

    def constant(self, identity: str) -> Any:
        """The kernel that is a constant of another one, by its `identity_of`; several kernels may have one name.

        Raises:
            UnsupportedError: it is created by a call of the entry.
        """
        named = [kernel for kernel in self._kernels if kernel.fn.__name__ == identity.partition(":")[0]]
        found = next((kernel for kernel in named if identity_of(kernel.fn) == identity), None)
        if found is None:
            raise UnsupportedError(f"the function {identity} is made only when the entry runs")
        return found

    def _of_text(self, text: str) -> Sequence[Any]:
        """The kernels in a file with this text, which is imported once."""
        if text not in self._kernels_by_text:
            first = len(self._kernels)
            try:
                generated.import_text(text)
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"[:_MESSAGE_CHARACTERS]
                raise UnsupportedError(
                    f"a file written by the candidate cannot be imported separately: {reason}"
                ) from error
            self._kernels_by_text[text] = self._kernels[first:]
        return self._kernels_by_text[text]


def _find(kernels: Sequence[Any], name: str, line: int, closure: str) -> Any:
    """The kernel of this name with this closure, preferably the one whose code begins at `line`."""
    named = [kernel for kernel in kernels if kernel.fn.__name__ == name]
    # A decorated function counts from its decorator, and the interpreter records it from its `def`.
    there = [kernel for kernel in named if line == kernel.fn.__code__.co_firstlineno or line == _def_line(kernel)]
    for kernel in there:
        if closure_of(kernel.fn) == closure:
            return kernel
    if not named or len({closure_of(kernel.fn) for kernel in there}) > 1:
        raise UnsupportedError(f"{name} is defined only when the entry runs, so it cannot be compiled separately")
    return (there or named)[0]


def _def_line(kernel: Any) -> int:
    """The line of the file with the kernel's `def`."""
    lines, first = inspect.getsourcelines(kernel.fn)
    return first + next(i for i, line in enumerate(lines) if line.lstrip().startswith("def "))
