"""Runs the cells of one session in Python (docs/protocols/interpreter.md).

The program is read from standard input, so that it is in no file that an account could change.
"""

import sys

# Cells can import files of their working directory first; this program must not.
_path, sys.path = sys.path, [entry for entry in sys.path if entry not in ("", ".")]
import atexit
import builtins
import fcntl
from json.decoder import JSONDecoder
import os
import select
from _signal import SIG_DFL, SIGINT, SIGTERM, default_int_handler, getsignal
from _signal import signal as set_signal
from _thread import get_ident
from contextvars import ContextVar
from types import SimpleNamespace

# Code that deletes or replaces a builtin affects only itself.
OWN_BUILTINS = dict(vars(builtins))


def read_part():
    return requests.read(int(requests.readline()))


def load(name, text):
    """Loads a part of the program."""
    namespace = {"__name__": "boxkeep." + name, "__builtins__": OWN_BUILTINS}
    exec(compile(text, "<boxkeep>", "exec"), namespace)
    return SimpleNamespace(**namespace)


class Requests:
    """The lines from the daemon; the event loop of the session may run between them."""

    def __init__(self, file):
        self._descriptor = file.fileno()
        os.set_blocking(self._descriptor, False)
        self._file = file
        self._rest = file.read() or b""
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)

    def read(self, tasks):
        """The next line with its end; empty when there are no more."""
        pieces = []
        while b"\n" not in self._rest:
            pieces.append(self._rest)
            self._rest = self._read_some(tasks)
            if not self._rest:
                return b""
        line, _, self._rest = self._rest.partition(b"\n")
        return b"".join(pieces) + line + b"\n"

    def _read_some(self, tasks):
        while True:
            try:
                return os.read(self._descriptor, 1 << 20)
            except BlockingIOError:
                if not tasks.wait(self._descriptor):
                    self._poll.poll()

    def forked(self):
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, self._descriptor, inheritable=False)
        os.close(null)


def main():
    parts = SimpleNamespace(**{name: load(name, read_part()) for name in ("events", "streams", "display", "tasks", "cells")})
    pending = read_part()
    source = Requests(requests)
    main_thread = get_ident()
    events = parts.events.Events(fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3), main_thread)
    origin = parts.streams.Origin(ContextVar("boxkeep_cell"), main_thread)
    streams = parts.streams.Streams(events, origin)
    display = parts.display.Display(events, origin, streams.flush, lambda: cells.report())
    display.sendable = parts.display.sendable
    tasks = parts.tasks.Tasks()
    cells = parts.cells.Cells(events, streams, origin, display, tasks)
    display.install()
    # The first registered function is called last, after those of the code.
    atexit.register(lambda: (cells.clear(), streams.close()))

    def forked():
        for member in (events, streams, source):
            member.forked()

    os.register_at_fork(after_in_child=forked)
    sys.path, sys.argv = _path, [""]
    quiet_about_our_thread()
    cells.is_pending = load("pending", pending).is_pending
    events.send("ready", language="python", version=sys.version.split()[0], pid=os.getpid())
    # `json.loads` without the builtins that code may have deleted.
    scan = JSONDecoder().scan_once
    own_type, own_dict, broken = type, dict, (ValueError, StopIteration)
    while True:
        try:
            line = source.read(tasks)
        except (Exception, KeyboardInterrupt):
            cells.report()
            continue
        if not line:
            begin_end()
            return
        try:
            request, _ = scan(line.decode(), 0)
        except broken:
            continue  # A daemon that died has left half a line behind.
        op = request.get("op") if own_type(request) is own_dict else None
        if op == "again":
            cells.report_end()
        elif op == "execute":
            if "formats" in request and not display.formats:
                display.formats = load("formats", request["formats"]).FORMATS
            is_program, lent = request.get("program") is True, request.get("lent")
            cells.run(request["cell"], request["code"], request.get("cwd"), request.get("env"), is_program, lent)


def begin_end():
    """From here on this process ends as a program does: threads, exit functions, files.

    Ctrl-C then stops what it waits for. SIGTERM is too late: the daemon that stops has closed the input already.
    """
    set_signal(SIGINT, default_int_handler)
    if getsignal(SIGTERM) == SIG_DFL:
        set_signal(SIGTERM, lambda *_: None)


def quiet_about_our_thread():
    """Hides the warning about forks beside threads, because the thread that reads the pipes is ours."""
    import warnings

    warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)


main()
