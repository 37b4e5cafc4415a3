"""Variants of one candidate: which parameters can be tuned, and the results of a grid.  Pure."""
