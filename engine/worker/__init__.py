"""The untrusted process: it loads one candidate, calls it, and hands back raw bytes.

This code shares a process with untrusted code, so nothing that it reports becomes a
verdict, and nothing worth stealing (expected values, seeds, tolerances) is ever sent to it.
"""
