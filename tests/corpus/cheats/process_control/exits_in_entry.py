# kgtui: op=aten::silu expect=crashed|runtime_error ids=B19
"""Raises SystemExit(0) in the entry: a grader that catches Exception only would end here, cleanly."""

import sys


def silu(self):
    sys.exit(0)
