"""Shared parts of elementwise operators: cases, inputs, references and costs. Importing it does not import torch."""
