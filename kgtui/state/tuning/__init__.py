"""A grid of variants: tunable parameters, chosen values, and the table of results."""
