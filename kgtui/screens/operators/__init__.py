"""The Operators screen: the catalogue, filtered."""
