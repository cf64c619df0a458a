"""`python -m pushrod.dash '{"robot": "arm", "connect": ["unixsock-stream/..."]}'`: what `pushrod serve --dash` and `pushrod dash` start."""

import asyncio
import logging
import os
import sys
from contextlib import suppress
from functools import partial

import msgspec

from pushrod.core.errors import PushrodError
from pushrod.core.outlet import protect_streams, unblock_streams


def main() -> int:
    with suppress(OSError, AttributeError):  # where it may: as much time as others, but it takes no core from a control loop when it wakes
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    from pushrod.dash.server import serve  # takes a second or two, by then out of the way of those loops
    from pushrod.dash.settings import Settings

    protect_streams()
    unblock_streams()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        return asyncio.run(serve(msgspec.json.decode(sys.argv[1], type=Settings), partial(print, flush=True)))
    except PushrodError as error:
        print(f"error: {error}", file=sys.stderr)
        return 4 if isinstance(error, ConnectionError) else 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
