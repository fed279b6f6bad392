"""A way to the daemon that can be cut, and that can lose what the client sends. It runs in threads in both forms."""

import socket
import threading


class Proxy:
    def __init__(self, port):
        self._port = port
        self._pairs = set()
        self._deaf = set()
        self._lost = threading.Event()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """Ends every current connection."""
        for pair in list(self._pairs):
            self._end(pair)

    def deafen(self):
        """Loses what comes over the current connections from now on."""
        self._deaf.update(self._pairs)

    def has_lost_input(self):
        return self._lost.wait(60)

    def close(self):
        self._server.close()
        self.cut()

    def _accept(self):
        while True:
            try:
                near, _ = self._server.accept()
            except OSError:
                # The program is at its end.
                return
            try:
                pair = (near, socket.create_connection(("127.0.0.1", self._port)))
            except OSError:
                # The daemon is away.
                near.close()
                continue
            self._pairs.add(pair)
            threading.Thread(target=self._pass_on, args=(pair, *pair), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(pair, *reversed(pair)), daemon=True).start()

    def _pass_on(self, pair, source, target):
        try:
            while piece := source.recv(65536):
                if source is pair[0] and pair in self._deaf:
                    # Other frames of the client are shorter than the input.
                    if len(piece) >= 1000:
                        self._lost.set()
                else:
                    target.sendall(piece)
        except OSError:
            # The connection was cut on purpose, or has lost its other end.
            pass
        self._end(pair)

    def _end(self, pair):
        self._pairs.discard(pair)
        for one in pair:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                # It is closed already.
                continue
