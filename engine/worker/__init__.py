"""The untrusted process: it loads one candidate, calls it, and returns raw bytes.

This code shares a process with untrusted code, so none of its reports becomes a verdict, and nothing secret (expected
values, seeds, tolerances) is ever sent to it.
"""
