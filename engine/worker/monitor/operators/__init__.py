"""Operators of torch that a candidate calls: counted, classified, with hooks on the ways past the count."""
