"""Operators that a kernel can be written for: the catalogue, and the sources that problems are read from.

Listing, searching and showing problems must never import torch, nor the modules of the problems; imports the
engine's records, and neither kgtui nor sessions.
"""
