"""The Case screen: one failed case in full."""
