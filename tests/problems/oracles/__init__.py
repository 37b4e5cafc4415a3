"""Second implementations of the operators: every reference is compared with one that it shares no formula with.

`registry.ORACLES` has one for each operator of the catalogue; `second_oracle` of a problem states its source.
"""
