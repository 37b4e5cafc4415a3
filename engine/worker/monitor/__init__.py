"""A worker's records of its candidate; a record is a claim that the parent evaluates, never a verdict."""
