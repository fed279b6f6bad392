"""Speaks with Jupyter kernels for the daemon: requests are lines on standard input, events lines on standard output.

Messages are packed and signed here, over pyzmq, which every ipykernel brings along. jupyter_client and asyncio take
twice the memory and several times as long to start, for nothing that is needed. It is read from standard input with the
parts that it stands on; docs/protocols/interpreter.md says what the lines mean. It runs on Python 3.8 and newer.
"""

import os
import signal
import sys
import time
from types import ModuleType

try:
    import zmq
except ImportError:
    # -I hides what an account has installed for itself alone, and its kernels may have come that way.
    import site

    sys.path.append(site.getusersitepackages())
    import zmq

# As much as a pipe holds.
READ_BYTES = 64 * 1024
FLUSH_BYTES = 256 * 1024


def load_part(name):
    """The next part of the program, for the parts behind it to import."""
    text = requests.read(int(requests.readline()))
    module = sys.modules[name] = ModuleType(name)
    exec(compile(text, '<sandboxd %s>' % name, 'exec'), module.__dict__)


for part in ('messages', 'cells', 'ipython', 'kernel'):
    load_part(part)

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
        # The beginning of a request whose end has not come yet, and events that have not been written.
        self.pieces = []
        self.lines = []
        self.pending_bytes = 0

    def run(self, early):
        self.tell({'event': 'ready', 'version': zmq.__version__, 'pid': os.getpid()})
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
                # One request that cannot be understood says nothing about those of the other kernels.
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
                self.tell({'event': 'failed', 'kernel': name, 'message': 'no kernel of this name is open'})
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
            # A connection file with something missing, a signature nobody knows, a socket's path that is too long.
            self.fail(kernel, 'the kernel cannot be connected to: %s' % (error or repr(error)))

    def drop(self, name):
        kernel = self.kernels.pop(name, None)
        if kernel:
            kernel.close()

    def fail(self, kernel, message):
        kernel.tell('failed', message=message)
        self.drop(kernel.kernel)

    def listen(self, socket, kernel, channel):
        self.sockets[socket] = (kernel, channel)
        self.poller.register(socket, zmq.POLLIN)

    def forget(self, socket):
        del self.sockets[socket]
        self.poller.unregister(socket)

    def tell(self, event):
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
    """Standard output at a descriptor that no library prints to."""
    events = os.dup(1)
    os.dup2(2, 1)
    return events


def main():
    # A terminal's Ctrl-C and an interrupt that was meant for a kernel are nothing to the bridge.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    bridge = Bridge(requests.fileno(), take_over_events())
    # What came together with the program is in the loader's buffer already.
    os.set_blocking(requests.fileno(), False)
    early = requests.read()
    os.set_blocking(requests.fileno(), True)
    bridge.run(early or b'')
    # An ordinary exit waits for kernels that are gone to take what was sent to them.
    os._exit(0)


main()
