"""The inputs of one case as only the judge knows them, and snapshots of calls that are compared later."""
