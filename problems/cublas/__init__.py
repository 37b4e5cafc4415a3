"""Routines of cuBLAS on column-major buffers, written in place and returned."""
