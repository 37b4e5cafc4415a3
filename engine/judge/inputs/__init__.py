"""The inputs of one case, which only the judge has, and snapshots of calls that are compared later."""
