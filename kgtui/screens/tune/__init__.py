"""The Tune screen: a grid of variants."""
