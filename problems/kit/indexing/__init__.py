"""Parts that operators with index tensors share.  Imports no torch when it is imported."""
