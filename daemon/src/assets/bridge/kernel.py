"""A connection to one kernel: its channels, its running cell and the waiting cells."""

import time
from collections import deque

import zmq
from cells import UNHEARD, Cell, error_output, exit_code_of, is_pending, shown
from ipython import ASK_PENDING, LEAVE, PYTHON_ONLY, arrange, install, prepare, why_not_arranged
from messages import Signer, complain, decode

CHANNELS = {'shell': zmq.DEALER, 'control': zmq.DEALER, 'stdin': zmq.DEALER, 'iopub': zmq.SUB}
DEFAULT_TIMEOUT_MS = 60_000
# A kernel binds its sockets some time after its start; libzmq retries at this interval.
RECONNECT_MS = 10
# The bridge repeats its question until it receives outputs too: a subscription takes effect at an unknown time.
HELLO_AGAIN_S = 0.05
# One of the two end signs of a cell can get lost. After this time the bridge asks for it.
PROBE_AFTER_S = 1.0
# Messages read from one socket in a row, so that a kernel that floods does not starve the others.
MESSAGES_AT_ONCE = 64
# A longer text is split, so that no line to the daemon has to hold it.
PIECE_CHARACTERS = 256 * 1024
# The answer on the stdin channel that means end of file.
END_OF_FILE = '\x04'


class Kernel:
    """A connection to one kernel, which runs one cell at a time; later cells wait here."""

    def __init__(self, bridge, name, request):
        self.bridge = bridge
        self.kernel = name
        self.language = request.get('language')
        self.timeout_ms = request.get('timeout_ms') or DEFAULT_TIMEOUT_MS
        self.deadline = time.monotonic() + self.timeout_ms / 1000
        self.channels = {}
        self.count = 0
        # The kernel's description of itself, and whether its outputs arrive; the connection is open with both.
        self.answer = None
        self.is_listening = False
        self.is_open = False
        self.is_exiting = False
        self.is_closing = False
        self.waiting = deque()
        self.current = None
        self.last_end = None

    def start(self, request):
        connection, running = request['connection'], request.get('running')
        self.signer = Signer(connection)
        for name in CHANNELS:
            self.connect(name, connection)
        self.say_hello()
        if running is not None:
            # A busy kernel does not answer heartbeats. Its keeper knows whether it lives.
            self.deadline = None
            self.current = Cell(running, is_partial=True)
            self.probe()

    def connect(self, name, connection):
        socket = self.channels[name] = self.bridge.context.socket(CHANNELS[name])
        self.bridge.listen(socket, self, name)
        socket.linger = 1000 if name == 'control' else 0
        socket.setsockopt(zmq.RECONNECT_IVL, RECONNECT_MS)
        if name == 'iopub':
            # Without a limit, because a kernel drops what does not fit, even the sign that a cell is over.
            socket.setsockopt(zmq.RCVHWM, 0)
            socket.setsockopt(zmq.SUBSCRIBE, b'')
        else:
            # The next bridge has the same identity, so the kernel sends it the replies that are due.
            socket.setsockopt(zmq.IDENTITY, ('boxkeep-' + self.kernel).encode()[:255])
        separator = '-' if connection['transport'] == 'ipc' else ':'
        port = connection[name + '_port']
        socket.connect('%s://%s%s%s' % (connection['transport'], connection['ip'], separator, port))

    def close(self):
        for socket in self.channels.values():
            self.bridge.forget(socket)
            socket.close()

    def emit(self, event, **keys):
        self.bridge.emit({'event': event, 'kernel': self.kernel, **keys})

    def send(self, channel, message_id, message_type, content):
        try:
            self.channels[channel].send_multipart(self.signer.pack(message_id, message_type, content), zmq.NOBLOCK)
        except zmq.Again:
            # Only a kernel that reads nothing has so many messages waiting. Waiting here would block all other kernels.
            complain('kernel %s, %s: no room for %s' % (self.kernel, channel, message_type))

    def execute(self, request):
        is_program, place = request.get('program') is True, (request.get('cwd'), request.get('env'))
        more = {name: request.get(name) for name in ('lent', 'formats')}
        self.waiting.append(Cell(request['cell'], request['code'], *place, is_program, **more))
        self.begin_next()

    def again(self, _):
        """Repeats the state of the cells, because the daemon has lost events."""
        if self.is_open:
            self.report_opened()
        if self.last_end:
            self.emit('end', **self.last_end)
        if self.current:
            self.emit('begin', cell=self.current.cell)

    def interrupt(self, _):
        self.send('control', 'interrupt', 'interrupt_request', {})

    def shutdown(self, _):
        self.is_closing = True
        if self.answer and self.answer.get('implementation') == 'ipython':
            self.run_code('leave:', LEAVE, True)
        else:
            self.send('control', 'shutdown', 'shutdown_request', {'restart': False})

    def run_cell(self, cell):
        # A kernel of another language answers that the question failed.
        questions = {'pending': ASK_PENDING} if cell.is_program else {}
        self.run_code('cell:' + cell.cell, cell.code, False, questions)

    def run_code(self, message_id, code, silent, questions=None):
        content = {
            'code': code,
            'silent': silent,
            'store_history': not silent,
            'user_expressions': questions or {},
            'allow_stdin': False,
            'stop_on_error': False,
        }
        self.send('shell', message_id, 'execute_request', content)

    def say_hello(self):
        """On both channels: a busy kernel reads only one of them, and not every kernel reads that one."""
        self.count += 1
        self.hello_at = time.monotonic() + HELLO_AGAIN_S
        for channel in ('shell', 'control'):
            self.send(channel, 'hello:%d' % self.count, 'kernel_info_request', {})

    def probe(self):
        """A later message in the same queue shows that the cell is over, even if both signs got lost."""
        self.run_code('probe:' + self.current.cell, '', True)
        self.current.probe_at = None

    def due(self):
        """When the next timer is due."""
        times = [self.current.probe_at] if self.current else []
        if not self.is_open:
            times += [self.deadline, self.hello_at if self.answer else None]
        return min((moment for moment in times if moment is not None), default=None)

    def look(self, now):
        if self.current and self.current.probe_at is not None and now >= self.current.probe_at:
            self.probe()
        if self.is_open:
            return
        if self.deadline is not None and now >= self.deadline:
            self.bridge.fail(self, 'the kernel has not answered within %d ms' % self.timeout_ms)
        elif self.answer and now >= self.hello_at:
            self.say_hello()

    def receive(self, channel):
        socket = self.channels[channel]
        for _ in range(MESSAGES_AT_ONCE):
            try:
                frames = socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return  # That was the last one.
            try:
                self.take(channel, *self.signer.unpack(frames))
            except Exception as error:
                # A malformed message must not end the bridge of all other kernels.
                complain('kernel %s, %s: %r' % (self.kernel, channel, error))

    def take(self, channel, parent, message_type, content):
        purpose, _, cell = parent.partition(':')
        if purpose in ('', 'leave') and self.is_closing and self.last_end:
            # Threads and exit functions print outside of the request of their cell.
            purpose, cell = 'cell', self.last_end['cell']
        if channel == 'iopub':
            self.is_listening = True
            if purpose == 'cell' and message_type in PUBLISHED:
                PUBLISHED[message_type](self, cell, decode(content.decode('utf-8', 'replace')))
            elif purpose == 'probe' and message_type == 'status':
                self.take_status(cell, decode(content.decode()))
            elif message_type == 'boxkeep_closed':
                self.emit('closed')
        elif channel == 'stdin':
            self.send('stdin', 'answer', 'input_reply', {'value': END_OF_FILE})
        elif message_type == 'kernel_info_reply':
            self.answer = self.answer or decode(content.decode())
        elif message_type == 'execute_reply' and self.is_current(cell):
            self.take_reply(purpose, decode(content.decode('utf-8', 'replace')))
        self.go_on()

    def is_current(self, cell):
        return self.current is not None and self.current.cell == cell

    def take_reply(self, purpose, content):
        if purpose == 'cell':
            self.current.reply = content
        elif purpose == 'probe' and self.current.reply is None:
            self.current.reply = {}
        elif purpose == 'arrange' and content['status'] == 'ok':
            self.run_cell(self.current)
        elif purpose == 'arrange':
            self.refuse(why_not_arranged(self.current.cwd, content))

    def go_on(self):
        if not self.is_open and self.is_listening and self.answer:
            self.become_open()
        cell = self.current
        if cell and cell.reply is not None and cell.is_idle:
            self.end(cell)
        elif cell and (cell.reply is not None or cell.is_idle) and cell.probe_at is None:
            cell.probe_at = time.monotonic() + PROBE_AFTER_S
        self.begin_next()

    def become_open(self):
        self.is_open = True
        info = self.answer.get('language_info') or {}
        self.language = info.get('name') or self.language
        if self.current:
            self.probe()  # The signs of the first probe may have arrived before the subscription.
        elif self.answer.get('implementation') == 'ipython':
            self.run_code('prepare:', prepare(), True)
        self.report_opened()

    def report_opened(self):
        info = self.answer.get('language_info') or {}
        banner = self.answer.get('banner', '')
        self.emit('opened', language=self.language, version=info.get('version', ''), banner=banner)

    def begin_next(self):
        while self.is_open and not self.is_exiting and not self.current and self.waiting:
            cell = self.current = self.waiting.popleft()
            # Sent before the cell can run: a cell without a known begin was then never run, even if this process dies.
            self.emit('begin', cell=cell.cell)
            self.bridge.flush()
            if cell.formats and self.answer.get('implementation') == 'ipython':
                self.run_code('prepare:', install(cell.formats), True)
            if cell.cwd is None and not cell.env and not cell.lent:
                self.run_cell(cell)
            elif (self.language or '').lower() == 'python':
                self.run_code('arrange:' + cell.cell, arrange(cell.cwd, cell.env, cell.lent), True)
            else:
                self.refuse({'ename': 'Unsupported', 'evalue': PYTHON_ONLY % self.language})

    def refuse(self, reply):
        """Ends the cell before it has run."""
        self.current.reply = {'status': 'error', **reply}
        self.end(self.current)

    def end(self, cell):
        self.current = None
        reply = cell.reply
        for payload in reply.get('payload') or []:
            self.take_payload(cell, payload)
        exit_code = exit_code_of(reply)
        if exit_code != 0 and not cell.has_error:
            self.output(cell.cell, error_output(reply or UNHEARD))
        self.last_end = {
            'cell': cell.cell,
            'status': 'ok' if exit_code == 0 else 'error',
            'execution_count': reply.get('execution_count'),
            'exit_code': exit_code,
            **({'cwd_error': reply['cwd_error']} if 'cwd_error' in reply else {}),
            **({'is_partial': True} if cell.is_partial else {}),
            **({'is_exiting': True} if self.is_exiting else {}),
            **({'is_pending': True} if cell.is_program and is_pending(reply) else {}),
        }
        self.emit('end', **self.last_end)

    def take_payload(self, cell, payload):
        if payload.get('source') == 'page':
            self.output(cell.cell, {'output_type': 'display_data', 'data': payload['data'], 'metadata': {}})
        elif payload.get('source') == 'ask_exit' and not payload.get('keepkernel'):
            # exit() ends an ipykernel a tenth of a second later: a cell that begins now would be cut off.
            self.is_exiting = True

    def output(self, cell, output, display_id=None):
        keys = {} if display_id is None else {'display_id': display_id}
        self.emit('output', cell=cell, output=output, **keys)

    def take_status(self, cell, content):
        if self.is_current(cell) and content['execution_state'] == 'idle':
            self.current.is_idle = True

    def take_stream(self, cell, content):
        text = content['text']
        for start in range(0, len(text), PIECE_CHARACTERS):
            piece = text[start : start + PIECE_CHARACTERS]
            self.output(cell, {'output_type': 'stream', 'name': content['name'], 'text': piece})

    def take_result(self, cell, content):
        output = {'output_type': 'execute_result', 'execution_count': content['execution_count'], **shown(content)}
        self.output(cell, output, (content.get('transient') or {}).get('display_id'))

    def take_display(self, cell, content):
        display_id = (content.get('transient') or {}).get('display_id')
        self.output(cell, {'output_type': 'display_data', **shown(content)}, display_id)

    def take_update(self, cell, content):
        self.emit('update', cell=cell, display_id=content['transient']['display_id'], **shown(content))

    def take_clear(self, cell, content):
        self.emit('clear', cell=cell, wait=bool(content.get('wait')))

    def take_error(self, cell, content):
        if exit_code_of(dict(content, status='error')) == 0:
            return  # sys.exit() is how a program says that all went well.
        if self.is_current(cell):
            self.current.has_error = True
        self.output(cell, error_output(content))


PUBLISHED = {
    'status': Kernel.take_status,
    'stream': Kernel.take_stream,
    'execute_result': Kernel.take_result,
    'display_data': Kernel.take_display,
    'update_display_data': Kernel.take_update,
    'clear_output': Kernel.take_clear,
    'error': Kernel.take_error,
}
