"""Where populations are simulated: CPU threads, or a GPU if there is one."""

from pushrod.core.names import find


def device_for(asked: str) -> str:
    """ "auto" is a GPU where there is one that works."""
    find({"auto": 0, "cpu": 0, "cuda": 0}, asked, "device")
    if asked != "auto":
        return asked
    from pushrod.compiled.cuda import import_cuda
    from pushrod.core.errors import DeviceError

    try:
        return "cuda" if import_cuda().is_available() else "cpu"
    except DeviceError:
        return "cpu"
