"""Turns printed text into outputs of its cell.

Python prints through objects in `sys`; child processes and libraries through pipes at the descriptors 1 and 2. Each
cell has its own pipes, so that a child that outlives its cell still prints for it.
"""

import fcntl
import io
import os
import select
import sys
from _thread import get_ident, start_new_thread
from codecs import getincrementaldecoder

CHUNK_BYTES = 1 << 16
# Room for C code that prints a lot while it holds the interpreter lock, when no thread can read.
PIPE_BYTES = 1 << 20
F_SETPIPE_SZ = 1031
# Limit on the pipes of earlier cells that children still hold; further cells share one.
MOST_OLD_PIPES = 64
NAMES = {1: "stdout", 2: "stderr"}


class Pipe:
    """The reading end of one descriptor during one cell."""

    def __init__(self, reader, name, cell):
        self.reader = reader
        self.name = name
        self.cell = cell
        self.decoder = getincrementaldecoder("utf-8")("replace")


class Streams:
    def __init__(self, events, origin):
        self._events = events
        self._origin = origin
        self._stray = fcntl.fcntl(2, fcntl.F_DUPFD_CLOEXEC, 3)
        self._null = fcntl.fcntl(os.open(os.devnull, os.O_RDWR), fcntl.F_DUPFD_CLOEXEC, 3)
        self._epoll = select.epoll()
        self._pipes = {}
        self._current = {}
        self._identities = {}
        self._forked = False
        self._is_closing = False
        self._ours = {}
        self._move_aside()
        self.begin(None)
        self.reader_thread = start_new_thread(self._read_for_ever, ())
        os.register_at_fork(before=self.flush)

    def begin(self, cell):
        """Gives this cell new pipes, and working objects in `sys` whatever the last cell did with them."""
        for descriptor in (0, 1, 2):
            # A closed descriptor would be reused for the next pipe.
            if _identity(descriptor) is None:
                os.dup2(self._null, descriptor, inheritable=True)
                self._identities.pop(descriptor, None)
        with self._events.lock:
            for descriptor in (1, 2):
                if len(self._pipes) < MOST_OLD_PIPES or descriptor not in self._current:
                    self._renew_pipe(descriptor, cell)
        for descriptor, name in NAMES.items():
            self._renew_object(descriptor, name)
        self._renew_input()

    def flush(self):
        """Flushes Python and the C library, then the pipes, in that order."""
        for name in NAMES.values():
            for stream in {id(s): s for s in (getattr(sys, name, None), self._ours.get(name))}.values():
                try:
                    stream.flush()
                except Exception:
                    pass  # An object of the cell, or one that the cell has closed. It has no text to report.
        ctypes = sys.modules.get("ctypes")
        if ctypes is not None:
            try:
                ctypes.CDLL(None).fflush(None)
            except Exception:
                pass  # This ctypes cannot call C, so no C output can be pending.
        if not self._forked:
            self.drain()

    def close(self):
        """Prints of the end read the pipes themselves: it may stop the other thread while that holds the lock."""
        with self._events.lock:
            self._is_closing = True
        self.flush()

    def drain(self):
        """Reads the pipes before the next print, to keep the order."""
        with self._events.lock:
            for reader, _ in self._epoll.poll(0):
                self._read(reader)

    def write(self, descriptor, decoder, data):
        """Takes what Python prints."""
        if self._forked:
            # In a forked child: the parent reads the other end, as for any child.
            self._write_all(descriptor, data)
            return
        try:
            # Nearly always whole characters; the decoder keeps an incomplete one.
            text = decoder.decode(data) if decoder.buffer else data.decode()
        except UnicodeDecodeError:
            text = decoder.decode(data)
        if not text:
            return
        cell = self._origin.cell()
        if cell is None:
            self._write_all(self._stray, data)
            return
        with self._events.lock:
            self.drain()
            self._events.stream(cell, NAMES[descriptor], text)
        self._events.raise_interrupt()

    def forked(self):
        self._forked = True

    def _write_all(self, descriptor, data):
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

    def _move_aside(self):
        """Descriptor 0 reads nothing, and cells get the descriptors of the protocol."""
        for descriptor in (0, 1, 2):
            os.dup2(self._null, descriptor, inheritable=True)

    def _renew_pipe(self, descriptor, cell):
        if not self._is_replaced(descriptor):
            reader, writer = os.pipe()
            os.set_blocking(reader, False)
            try:
                fcntl.fcntl(reader, F_SETPIPE_SZ, PIPE_BYTES)
            except OSError:
                pass  # The account has used up what it may have; the usual size does.
            old = self._current.get(descriptor)
            if old is not None:
                # Not watched meanwhile, so that its end does not wake the other thread.
                self._epoll.unregister(old.reader)
            os.dup2(writer, descriptor, inheritable=True)
            os.close(writer)
            self._identities[descriptor] = _identity(descriptor)
            self._current[descriptor] = self._pipes[reader] = Pipe(reader, NAMES[descriptor], cell)
            self._epoll.register(reader, select.EPOLLIN)
            if old is not None:
                self._epoll.register(old.reader, select.EPOLLIN)
                self._read(old.reader)

    def _is_replaced(self, descriptor):
        """True if the code itself replaced the descriptor by a file."""
        return self._identities.get(descriptor, _identity(descriptor)) != _identity(descriptor)

    def _read_for_ever(self):
        while True:
            ready = self._epoll.poll()
            with self._events.lock:
                if self._is_closing:
                    return
                for reader, _ in ready:
                    self._read(reader)

    def _read(self, reader):
        pipe = self._pipes.get(reader)
        if pipe is None:
            return
        # More than a pipe holds, and a limit for endless output.
        for _ in range(2 * PIPE_BYTES // CHUNK_BYTES):
            try:
                data = os.read(reader, CHUNK_BYTES)
            except BlockingIOError:
                return
            text = pipe.decoder.decode(data, not data)
            if text and pipe.cell is not None:
                self._events.stream(pipe.cell, pipe.name, text)
            elif text:
                self._write_all(self._stray, data)
            if not data:
                self._forget(pipe)
                return

    def _forget(self, pipe):
        self._epoll.unregister(pipe.reader)
        del self._pipes[pipe.reader]
        os.close(pipe.reader)
        for descriptor, current in list(self._current.items()):
            if current is pipe:
                del self._current[descriptor]

    def _renew_object(self, descriptor, name):
        if _is_open(getattr(sys, name, None)) and name in self._ours:
            return
        stream = io.TextIOWrapper(
            io.BufferedWriter(Printed(self, descriptor, name), 8192),
            encoding="utf-8",
            # Lone surrogates reach the daemon as U+FFFD, and never fail to print.
            errors="surrogatepass",
            line_buffering=True,
        )
        stream.mode = "w"
        self._ours[name] = stream
        setattr(sys, name, stream)
        setattr(sys, "__%s__" % name, stream)

    def _renew_input(self):
        if not _is_open(getattr(sys, "stdin", None)) or not hasattr(self, "_stdin"):
            self._stdin = sys.stdin = sys.__stdin__ = NoInput()


class Printed(io.RawIOBase):
    """The bytes that Python prints to one of the two streams."""

    def __init__(self, streams, descriptor, name):
        self._streams = streams
        self._descriptor = descriptor
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self.name = "<%s>" % name
        self.mode = "wb"

    def writable(self):
        return True

    def fileno(self):
        return self._descriptor

    def write(self, data):
        data = bytes(data)
        self._streams.write(self._descriptor, self._decoder, data)
        return len(data)


class NoInput(io.TextIOWrapper):
    """Standard input of cells, where every read fails with an explanation."""

    def __init__(self):
        super().__init__(io.BufferedReader(io.FileIO(0, "rb", closefd=False)), encoding="utf-8")
        self.mode = "r"

    def _refuse(self, *_):
        raise EOFError("code in a session has no standard input; give it the value in a variable or a file")

    read = readline = readlines = __next__ = __iter__ = _refuse

    def close(self):
        """Stays open: `exit()` closes it, and the session continues."""


class Origin:
    """Finds the cell of a print: the cell that started the printing task or thread."""

    def __init__(self, variable, main_thread):
        self._variable = variable
        self._main_thread = main_thread
        self._threads = {}
        self.running = None
        self.last = None

    def begin(self, cell):
        self._note_threads()
        self.running = self.last = cell
        self._variable.set(cell)

    def end(self):
        self._note_threads()
        self.running = None

    def cell(self):
        ident = get_ident()
        cell = self._variable.get(None)
        if cell is not None and (cell == self.running or ident == self._main_thread):
            return cell
        cell = cell or self._threads.get(ident)
        if cell is None or (self.running is not None and _is_in_a_pool(sys._getframe())):
            return self.running or self.last
        return cell

    def _note_threads(self):
        """Assigns new threads to the last cell. Polled, because code can undo every hook."""
        idents = sys._current_frames()
        self._threads = {ident: self._threads.get(ident, self.last) for ident in idents if ident != self._main_thread}


POOLS = frozenset(("concurrent.futures.thread", "multiprocessing.pool"))


def _is_in_a_pool(frame):
    """A pool worker serves many cells, so it prints for the running cell."""
    while frame is not None:
        if frame.f_globals.get("__name__") in POOLS:
            return True
        frame = frame.f_back
    return False


def _is_open(stream):
    try:
        return stream is not None and not getattr(stream, "closed", False)
    except ValueError:
        return False  # It is detached from what it wrote to.


def _identity(descriptor):
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None  # Code has closed it.
    return status.st_dev, status.st_ino
