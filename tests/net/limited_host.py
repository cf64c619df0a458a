"""`pushrod serve ...` in a process that gives up its rights and its resources when a line comes on its input: `limited_host.py ARGUMENTS of serve`.

From then on it runs as an unprivileged user that can start no thread or process, open no descriptor, and write to no file.
"""

import os
import resource
import sys
import threading

NOBODY = 65534


def limit() -> None:
    sys.stdin.readline()
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    print(f"limited: {_fails(lambda: threading.Thread(target=int).start())}, {_fails(lambda: os.dup(0))}, {_fails(os.fork)}", flush=True)


def _fails(call: object) -> str:
    try:
        call()  # type: ignore[operator]
    except (RuntimeError, OSError) as error:
        return type(error).__name__
    return "possible"


if __name__ == "__main__":
    threading.Thread(target=limit, daemon=True).start()
    sys.argv = ["pushrod", "serve", *sys.argv[1:]]
    from pushrod.cli.main import main

    main()
