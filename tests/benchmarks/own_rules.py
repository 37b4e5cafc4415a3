"""What each suite's own rule and kgtui say of the same candidates on the same calls: a table to read, no test.

    python -m tests.benchmarks.own_rules [SUITE ...]

The suites are those of `tests/problems/samples`, with no size constant above 64, on the CPU; the candidates those of
`suite_texts.py`.  A row that is judged otherwise has `!`, and the verdict of kgtui says why.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.benchmarks.suite_texts import CAP, SAMPLES, SUITES, label, rows


def main() -> None:
    """Print a row for each candidate and a count for each suite."""
    for suite in sys.argv[1:] or SUITES:
        given = rows(suite)
        found = verified(suite, given)
        print(f"\n{suite}: {len(found)} candidates")
        for row, result in zip(given, found, strict=True):
            print_row(str(row["file"]), label(str(row["code"])), result)
        print(dict(Counter(result["agreement"] or "not compared" for result in found)))


def print_row(task: str, kind: str, result: dict[str, object]) -> None:
    """One candidate: calls that pass the suite's own rule, the verdict, and the reason."""
    calls = f"{result['rule_passed']}/{result['rule_calls']}" if result["rule_calls"] else "-"
    mark = "!" if str(result["agreement"]).startswith("only") else " "
    reason = " ".join(str(result["reason"]).split())[:150]
    print(f"{mark} {task:<32} {kind:<13} {calls:>6} {result['verdict']:<14} {reason}")


def verified(suite: str, given: list[dict[str, object]]) -> list[dict[str, object]]:
    """The results of a batch of these rows, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in given))
        command = [sys.executable, "-m", "kgtui", "check", "--suite", str(SAMPLES / suite), "--candidates", str(file),
                   "--cap", str(CAP), "--device", "cpu", "--target", "none", "--json", "--jobs", "2"]  # fmt: skip
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                               env={**os.environ, "KGTUI_HOME": folder})  # fmt: skip
    results = [line for line in map(json.loads, ended.stdout.splitlines()) if line["kind"] == "result"]
    return sorted(results, key=lambda result: int(str(result["candidate"]).rpartition(":")[2].rpartition("line ")[2]))


if __name__ == "__main__":
    main()
