"""Talks to Jupyter kernels for the daemon: requests are lines on standard input, events lines on standard output.

Packs and signs messages over pyzmq, which every ipykernel depends on: jupyter_client and asyncio would double the
memory and the start. Python 3.8 or newer reads the program from standard input; docs/protocols/interpreter.md has the
lines.
"""

import os
import signal
import sys
import time
from types import ModuleType

try:
    import zmq
except ImportError:
    # -I hides the account's own packages, which may include the kernels.
    import site

    sys.path.append(site.getusersitepackages())
    import zmq

# The capacity of a pipe.
READ_BYTES = 64 * 1024
FLUSH_BYTES = 256 * 1024


def read_part():
    return requests.read(int(requests.readline()))


def load_part(name):
    """Loads the next part of the program as a module."""
    module = sys.modules[name] = ModuleType(name)
    exec(compile(read_part(), '<boxkeep %s>' % name, 'exec'), module.__dict__)


for part in ('messages', 'cells', 'ipython'):
    load_part(part)
# Kernels run these parts, not the bridge.
sys.modules['ipython'].PENDING = read_part().decode()
sys.modules['ipython'].LEND = read_part().decode()
load_part('kernel')

from kernel import Kernel
from messages import complain, decode, to_line


class Bridge:
    def __init__(self, requests, events):
        self.requests = requests
        self.events = events
        self.context = zmq.Context()
        self.poller = zmq.Poller()
        self.poller.register(requests, zmq.POLLIN)
        self.sockets = {}
        self.kernels = {}
        # The incomplete last request, and the events that are not written yet.
        self.pieces = []
        self.lines = []
        self.pending_bytes = 0

    def run(self, early):
        self.emit({'event': 'ready', 'version': zmq.__version__, 'pid': os.getpid()})
        self.take_lines(early)
        self.flush()
        while True:
            for source, _ in self.poller.poll(self.wait_ms()):
                if source == self.requests:
                    if not self.read_requests():
                        return
                elif source in self.sockets:  # One before it in this round may have closed it.
                    kernel, channel = self.sockets[source]
                    kernel.receive(channel)
            now = time.monotonic()
            for kernel in list(self.kernels.values()):
                kernel.look(now)
            self.flush()

    def wait_ms(self):
        due = min((moment for moment in (kernel.due() for kernel in self.kernels.values()) if moment), default=None)
        return None if due is None else max(0, int((due - time.monotonic()) * 1000) + 1)

    def read_requests(self):
        """False at the end of all requests."""
        read = os.read(self.requests, READ_BYTES)
        self.take_lines(read)
        return len(read) > 0

    def take_lines(self, read):
        self.pieces.append(read)
        if b'\n' not in read:
            return
        *lines, rest = b''.join(self.pieces).split(b'\n')
        self.pieces = [rest]
        for line in lines:
            try:
                request = decode(line.decode())
                self.take(request.get('op'), request)
            except Exception as error:
                # A malformed request says nothing about the requests for other kernels.
                complain('a request was passed over: %r' % error)

    def take(self, op, request):
        if op not in ('open', 'execute', 'again', 'interrupt', 'shutdown', 'close'):
            return
        name = request['kernel']
        kernel = self.kernels.get(name)
        if op == 'open':
            self.open(name, request)
        elif kernel is None:
            if op in ('execute', 'again'):
                self.emit({'event': 'failed', 'kernel': name, 'message': 'no kernel of this name is open'})
        elif op == 'close':
            self.drop(name)
        else:
            getattr(kernel, op)(request)

    def open(self, name, request):
        self.drop(name)
        kernel = self.kernels[name] = Kernel(self, name, request)
        try:
            kernel.start(request)
        except Exception as error:
            # The connection file lacks a key, names an unknown signature scheme, or has too long a socket path.
            self.fail(kernel, 'the kernel cannot be connected to: %s' % (error or repr(error)))

    def drop(self, name):
        kernel = self.kernels.pop(name, None)
        if kernel:
            kernel.close()

    def fail(self, kernel, message):
        kernel.emit('failed', message=message)
        self.drop(kernel.kernel)

    def listen(self, socket, kernel, channel):
        self.sockets[socket] = (kernel, channel)
        self.poller.register(socket, zmq.POLLIN)

    def forget(self, socket):
        del self.sockets[socket]
        self.poller.unregister(socket)

    def emit(self, event):
        line = to_line(event)
        self.lines.append(line)
        self.pending_bytes += len(line)
        if self.pending_bytes > FLUSH_BYTES:
            self.flush()

    def flush(self):
        if not self.lines:
            return
        rest = memoryview(b'\n'.join(self.lines) + b'\n')
        self.lines = []
        self.pending_bytes = 0
        while rest:
            rest = rest[os.write(self.events, rest) :]


def take_over_events():
    """Moves standard output to a descriptor that no library prints to."""
    events = os.dup(1)
    os.dup2(2, 1)
    return events


def main():
    # A terminal's Ctrl-C, or an interrupt meant for a kernel, must not end the bridge.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    bridge = Bridge(requests.fileno(), take_over_events())
    # The loader has buffered requests that arrived together with the program.
    os.set_blocking(requests.fileno(), False)
    early = requests.read()
    os.set_blocking(requests.fileno(), True)
    bridge.run(early or b'')
    # An ordinary exit would wait until dead kernels have taken their messages.
    os._exit(0)


main()
