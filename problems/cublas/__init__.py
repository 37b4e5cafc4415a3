"""Routines of cuBLAS on column-major buffers, written in place and returned.

One module is one operator, found by scanning, so the folder stays flat.
"""
