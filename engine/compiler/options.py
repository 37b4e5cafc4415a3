"""Options of a launch, as Triton's backends take them."""

from __future__ import annotations

from engine.protocol.proof.binaries import CompileOptions

_LITERALS: dict[str, object] = {"True": True, "False": False}


def triton_options(options: CompileOptions) -> dict[str, object]:
    """Arguments of `parse_options` of a backend: truth values and numbers instead of their texts."""
    chosen: dict[str, object] = {"num_warps": options.num_warps, "num_stages": options.num_stages}
    for name, text in options.others:
        chosen[name] = _LITERALS.get(text, int(text) if text.isdigit() else text)
    return chosen
