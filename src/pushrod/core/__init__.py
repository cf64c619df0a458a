"""Records with units, pure steps, small maths, errors. Standard library only."""
