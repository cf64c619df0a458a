"""Controllers that ask the pipeline and unwind by what it says was achieved: nothing else tells them of a limit."""
