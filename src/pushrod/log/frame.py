"""What goes to the process that writes a log: frames, each a head and its body; what comes back are lines of JSON.

BEGIN     {path, file, profile, process, part}: where modules are, the file to write, whose end is to be noticed, bytes of one file
CHANNEL   {topic, name, schema, metadata}: a topic, under the number in the head
MESSAGE   a message of a channel, as it is to be written
ROWS      [[channel, shape, offset ns], ...]: topics that are made out of one row of numbers
ROW       the numbers, eight bytes each: the writer makes the messages, so that whoever sends them need not
ATTACH    {name, media_type, text}        METADATA   {name, entries}
FLUSH     all that came so far goes to the disk         END   nothing more comes
"""

import struct

HEAD = struct.Struct("<BIqI")  # kind, which channel or row, time [ns], length of the body
BEGIN, CHANNEL, MESSAGE, ROWS, ROW, ATTACH, METADATA, FLUSH, END = range(9)
EVENTS = 0  # the channel for what a person wants to read; the writer itself has a word to say there if all ends at once


def frame(kind: int, which: int = 0, ns: int = 0, body: bytes = b"") -> bytes:
    return HEAD.pack(kind, which, ns, len(body)) + body
