"""Arguments of an interpreted kernel that are Python's floats, which in compiled code are float32 tensors.

There `alpha.to(tl.float32)` is right, and half-precision numbers times alpha are float32.  Triton's interpreter
leaves them Python's, which have no `to` and take the type of what they meet.  Patches the interpreter for triton 3.6
to 3.9; never used outside a worker.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as triton_interpreter
from triton.runtime.interpreter import TensorHandle


def install() -> None:
    """Have floats become tensors where integers do, on their way into a kernel."""
    convert = triton_interpreter._implicit_cvt

    def converted(argument: Any) -> Any:  # Any: Triton's interpreter is not typed
        if type(argument) is float:
            with np.errstate(over="ignore"):
                return tl.tensor(TensorHandle(np.array([argument], dtype=np.float32), tl.float32), tl.float32)
        return convert(argument)

    triton_interpreter._implicit_cvt = converted
