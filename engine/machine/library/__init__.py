"""Functions of libdevice that numpy does not have: special functions and directed rounding.

Functions of arrays only; must not import the executor or operations.
"""
