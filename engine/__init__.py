"""The engine: judge one candidate against one problem on one device.

It knows nothing of the screen, the catalogue or the store; they import it.  Importing this
package costs neither torch nor triton: only the child processes load them.
"""
