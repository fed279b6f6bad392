"""Decides whether the end of this Python would still do something: wait, call functions, or flush files.

Executed before the code of a user, so that everything that already exists counts as nothing to do.
"""

import atexit
import gc
import os
import sys

# A loop of the kernel that runs the code owns these; the code of a user cannot end with one that matters.
OWN_MODULES = frozenset(("asyncio", "_asyncio", "zmq", "tornado", "ipykernel", "IPython", "traitlets", "jupyter_client"))
OWN_KINDS = frozenset(("coroutine", "async_generator"))


def is_pending():
    """True when a real end is needed, also where it cannot be known."""
    try:
        return (
            _callbacks() != calls
            or bool(_threads() - threads)
            or bool(_files() - files)
            or any(_has_finalizer(kind) for kind in {type(one) for one in gc.get_objects()})
        )
    except Exception:
        return True  # The code has replaced what this needs.


def _callbacks():
    return atexit._ncallbacks()


def _threads():
    threading = sys.modules.get("threading")
    if threading is None:
        return set()
    main = threading.main_thread()
    return {one for one in threading.enumerate() if one is not main and not one.daemon}


def _files():
    """Paths of the open files, which a library may flush without Python's knowledge."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink("/proc/self/fd/" + name))
        except OSError:
            pass  # The descriptor of the list itself.
    return {path for path in found if path.startswith("/") and not path.startswith("/dev/")}


def _has_finalizer(kind):
    if kind.__name__ in OWN_KINDS or kind.__module__.partition(".")[0] in OWN_MODULES:
        return False
    return any("__del__" in vars(base) for base in kind.__mro__)


calls, threads, files = _callbacks(), _threads(), _files()
# Objects from before the code need no look.
gc.freeze()
