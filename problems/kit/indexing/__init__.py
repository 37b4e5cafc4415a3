"""Shared parts of operators with index tensors. Importing this package does not import torch."""
