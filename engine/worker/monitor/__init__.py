"""A worker's records of its candidate; a record is a claim for the parent to weigh, never a verdict."""
