"""The rules of arming, as pure functions over plain data: no clock, no thread, no I/O.

This is not a certified safety function. Stops are described with the words of EN 60204-1 and IEC 61800-5-2;
what makes a machine safe is its hardware.
"""
