"""Studies: one machine a million times, with parameters that are drawn, and an answer about how many of the runs hold."""
