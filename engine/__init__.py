"""The engine: verify one candidate against one problem on one device.

It does not depend on the screen, the catalogue or the store; they import it.  Importing this package loads neither
torch nor triton: only the child processes do.
"""
