"""Records the tape of a call: allocations, moves and launches, in the format of `engine.protocol.proof.tape`.

A tape is a claim.  Steps that the recorder misses are missing when the tape is replayed, and the case is not proven.
"""
