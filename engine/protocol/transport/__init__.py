"""Pipes and files that carry messages and bytes of tensors, and the child's loop over them.  Imports only messages."""
