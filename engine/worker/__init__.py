"""The untrusted process: it loads one candidate, calls it, and hands back raw bytes.

Whatever runs here shares a process with code that nobody trusts, so nothing it says becomes a
verdict, and nothing worth stealing (expected values, seeds, tolerances) is ever sent to it.
"""
