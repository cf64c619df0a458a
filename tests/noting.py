"""A disarm function whose work other processes can see: it writes down who called it, when, and with what. It imports next to nothing."""

import os
import time


def note(options):
    if options["how"] == "hang":
        time.sleep(60.0)
    if options["how"] == "raise":
        raise OSError("no answer from the bus")
    text = f"{os.getpid()} {time.monotonic()} {'/'.join(options['path'])} {options['gain']}\n"
    out = os.open(options["file"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(out, text.encode())
    os.close(out)
