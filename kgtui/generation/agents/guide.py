"""The guide for coding agents as a SKILL.md: the manual's page behind the header that agents read."""

from __future__ import annotations

import re

from kgtui import manual

TOPIC = "agents"
_HEADER = """---
name: kgtui
description: Verify, benchmark and inspect Triton kernels for PyTorch, vLLM and cuBLAS operators, through the MCP server
  `kgtui mcp` or, in a shell, through `kgtui check --json`. Use it whenever you write or change a GPU kernel.
---

"""
_MARKER = re.compile(r"<!-- (?:begin|end) [\w-]+ -->\n*")


def skill_text() -> str:
    """A whole SKILL.md."""
    return _HEADER + _MARKER.sub("", manual.page(TOPIC)).strip()
