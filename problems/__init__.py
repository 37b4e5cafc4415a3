"""The operators for which kernels can be written: the catalogue and other sources of problems.

Listing, searching and showing problems must never import torch, nor the modules of the problems; imports the
engine's records, and neither kgtui nor sessions.
"""
