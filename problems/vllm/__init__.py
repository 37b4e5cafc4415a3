"""Custom operators of the vLLM inference engine; most of them write into their arguments.

One module is one operator, found by scanning, so the folder stays flat.
"""
