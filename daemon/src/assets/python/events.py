"""Sends events to the daemon, one line of JSON each, and each of them whole whatever the code of a cell does."""

from _thread import RLock, allocate_lock, get_ident, start_new_thread
from json.encoder import JSONEncoder, c_make_encoder, encode_basestring
from posix import write

# A write of this size to a pipe is taken whole or not at all: a signal handler that raises cannot leave half a line.
ATOMIC_BYTES = 4096
# The daemon passes over lines that are longer.
MOST_LINE_BYTES = 32 << 20
# Of a text that goes when a line would be longer, of a text in a line, and of a line of an error that is.
LARGE_CHARACTERS = 1 << 20
ERROR_CHARACTERS = 1000


# Below the functions of `json`, which need builtins that code may have deleted.
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
        # What prints inside of a print, a signal handler or a destructor, has the lock already.
        self.lock = RLock()
        # No longer so in a process that was forked: it has the descriptors, but is not who the daemon talks to.
        self.is_ours = True
        # Ctrl-C came while something was being printed, and is an exception when that is done.
        self.is_interrupted = False

    def send(self, event, **keys):
        line = to_json(dict(event=event, **keys))
        # A character has four bytes at most.
        if len(line) > MOST_LINE_BYTES // 4 and len(line.encode("utf-8", "replace")) >= MOST_LINE_BYTES:
            line = to_json(dict(event=event, **_shortened(keys)))
        self._send_line(line + "\n")

    def output(self, cell, output, **keys):
        self.send("output", cell=cell, output=output, **keys)

    def stream(self, cell, name, text):
        prefix = self._prefixes.get((cell, name))
        if prefix is None:
            # Cells come and go: only the prefixes of the last few are worth keeping.
            if len(self._prefixes) > 16:
                self._prefixes.clear()
            prefix = to_json({"event": "output", "cell": cell, "output": {"output_type": "stream", "name": name}})[:-2]
            self._prefixes[(cell, name)] = prefix
        for start in range(0, len(text), LARGE_CHARACTERS):
            piece = text[start : start + LARGE_CHARACTERS]
            self._send_line(prefix + ', "text": ' + encode_basestring(piece) + "}}\n")

    def raise_interrupt(self):
        """Behind all that has been sent."""
        if self.is_interrupted and get_ident() == self._main_thread:
            self.is_interrupted = False
            raise KeyboardInterrupt

    def forked(self):
        """In the child of a fork, where another thread may have held the lock."""
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
        """In a thread of its own: signal handlers run in the main one, and one that raises would cut the line."""
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
    """Without the texts that make a line too long; what is shown in their place says so."""
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
    told = ["<%s, %d characters: too large to be shown>" % (kind, size) for kind, size in sizes.items() if kind not in kept]
    text = kept.get("text/plain")
    return dict(output, data=dict(kept, **{"text/plain": "\n".join(([text] if text else []) + told)}))


def _without_surrogates(text):
    """Pairs become the character that they stand for; what stands alone is no character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
