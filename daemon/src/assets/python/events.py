"""Sends events to the daemon as lines of JSON, each one whole whatever the code of a cell does."""

from _thread import RLock, allocate_lock, get_ident, start_new_thread
from json.encoder import JSONEncoder, c_make_encoder, encode_basestring
from posix import write

# A pipe accepts a write of this size whole or not at all, so a signal handler that raises leaves no half line.
ATOMIC_BYTES = 4096
# The daemon skips longer lines.
MOST_LINE_BYTES = 32 << 20
# Limits for a text dropped from a long line, for a text in a line, and for a line of a traceback.
LARGE_CHARACTERS = 1 << 20
ERROR_CHARACTERS = 1000


# The parts of `json` that need no builtins, because code may have deleted builtins.
if c_make_encoder is None:
    to_json = JSONEncoder(ensure_ascii=False, default=str).encode
else:
    _encode = c_make_encoder(None, str, encode_basestring, None, ": ", ", ", False, False, True)

    def to_json(value):
        return "".join(_encode(value, 0))


class Events:
    def __init__(self, descriptor, main_thread):
        self._descriptor = descriptor
        self._main_thread = main_thread
        self._prefixes = {}
        # A print inside a print, a signal handler or a destructor already has the lock.
        self.lock = RLock()
        # False after a fork: the child has the descriptors, but must not send events.
        self.is_ours = True
        # Ctrl-C during a print is raised after the print.
        self.is_interrupted = False

    def send(self, event, **keys):
        line = to_json(dict(event=event, **keys))
        # A character has at most four bytes.
        if len(line) > MOST_LINE_BYTES // 4 and len(line.encode("utf-8", "replace")) >= MOST_LINE_BYTES:
            line = to_json(dict(event=event, **_shortened(keys)))
        self._send_line(line + "\n")

    def output(self, cell, output, **keys):
        self.send("output", cell=cell, output=output, **keys)

    def stream(self, cell, name, text):
        prefix = self._prefixes.get((cell, name))
        if prefix is None:
            # Only the prefixes of the last few cells are cached.
            if len(self._prefixes) > 16:
                self._prefixes.clear()
            prefix = to_json({"event": "output", "cell": cell, "output": {"output_type": "stream", "name": name}})[:-2]
            self._prefixes[(cell, name)] = prefix
        for start in range(0, len(text), LARGE_CHARACTERS):
            piece = text[start : start + LARGE_CHARACTERS]
            self._send_line(prefix + ', "text": ' + encode_basestring(piece) + "}}\n")

    def raise_interrupt(self):
        """Raises an interrupt that arrived while an event was being sent."""
        if self.is_interrupted and get_ident() == self._main_thread:
            self.is_interrupted = False
            raise KeyboardInterrupt

    def forked(self):
        """Renews the lock in a forked child, where another thread may have held it."""
        self.lock = RLock()
        self.is_ours = False

    def _send_line(self, line):
        if not self.is_ours:
            return
        try:
            data = line.encode()
        except UnicodeEncodeError:
            data = _without_surrogates(line).encode()
        with self.lock:
            if len(data) <= ATOMIC_BYTES or get_ident() != self._main_thread:
                self._write(data)
            else:
                self._write_beside(data)

    def _write(self, data):
        view = memoryview(data)
        while view:
            view = view[write(self._descriptor, view) :]

    def _write_beside(self, data):
        """Runs in its own thread: a signal handler that raises in the main thread would cut the line."""
        done = allocate_lock()
        failures = []

        def work():
            try:
                self._write(data)
            except OSError as error:
                failures.append(error)
            finally:
                done.release()

        done.acquire()
        start_new_thread(work, ())
        with done:
            pass
        if failures:
            raise failures[0]


def _shortened(keys):
    """Replaces texts that make a line too long by a note."""
    output = keys.get("output", keys)
    if "data" in output:
        return dict(keys, output=_shortened_data(output)) if "output" in keys else _shortened_data(keys)
    if output.get("output_type") != "error":
        return keys
    lines = [line[:ERROR_CHARACTERS] for line in output["traceback"][-100:]]
    return dict(keys, output=dict(output, evalue=output["evalue"][:ERROR_CHARACTERS], traceback=lines))


def _shortened_data(output):
    sizes = {kind: len(value if type(value) is str else to_json(value)) for kind, value in output["data"].items()}
    kept = {kind: value for kind, value in output["data"].items() if sizes[kind] <= LARGE_CHARACTERS}
    lost = [(kind, size) for kind, size in sizes.items() if kind not in kept]
    notes = ["<%s, %d characters: too large to be shown>" % both for both in lost]
    text = kept.get("text/plain")
    return dict(output, data=dict(kept, **{"text/plain": "\n".join(([text] if text else []) + notes)}))


def _without_surrogates(text):
    """Joins surrogate pairs; a single surrogate is not a character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
