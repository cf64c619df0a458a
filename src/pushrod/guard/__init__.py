"""A second, tiny process that outlives the first: it holds every disarm function and calls them when the process with the motors is dead or stuck.

What runs in that process (`__main__`, `child`, `judge`, `holding`, `record_file`, `wire`) needs the standard library alone and starts in some 30 ms.
It is not a certified safety function: it dies with its computer, its power and its operating system.
"""

INSIDE = False  # True in the guard process
