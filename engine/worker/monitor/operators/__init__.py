"""Operators of torch that a candidate calls: counted, classified, with hooks on the ways around the count."""
