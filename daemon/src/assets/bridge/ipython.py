"""Code that kernels of Python run unseen: it is silent, leaves no name behind, and is in no history."""

PYTHON_ONLY = 'cwd and env can change in kernels of Python only, and not in one of %s'

# What child processes and libraries print goes through a pipe, from which a thread of ipykernel reads it. A cell is over
# only when that pipe is empty and the thread is back at it, with nothing in its hands: without this, one line in a
# hundred comes behind the end of its cell. The second word of `syscall` is the first argument, the descriptor of a read.
#
# Code may also put something else in the place of the streams, or nothing; an ipykernel ends when it cannot flush them.
AFTER_CELLS = """
import fcntl, os, struct, sys, termios, time
from IPython import get_ipython

def is_drained(stream):
    pipe, thread = getattr(stream, '_fid', None), getattr(stream, 'watch_fd_thread', None)
    if pipe is None or thread is None or not thread.is_alive():
        return True
    if struct.unpack('i', fcntl.ioctl(pipe, termios.FIONREAD, b'0000'))[0] > 0:
        return False
    try:
        file = os.open('/proc/self/task/%d/syscall' % thread.native_id, os.O_RDONLY)
        words = os.read(file, 256).split()
        os.close(file)
    except OSError:
        return True
    return len(words) > 1 and int(words[1], 16) == pipe

own = {'stdout': sys.stdout, 'stderr': sys.stderr}

def mend():
    for name, stream in own.items():
        if not callable(getattr(getattr(sys, name, None), 'flush', None)):
            setattr(sys, name, stream)

def drain():
    mend()
    deadline = time.monotonic() + 0.1
    while not (is_drained(sys.stdout) and is_drained(sys.stderr)) and time.monotonic() < deadline:
        time.sleep(0.0002)

shell = get_ipython()
if not hasattr(shell, '_sandboxd_drain'):
    shell._sandboxd_drain = drain
    shell.events.register('post_execute', drain)
"""

# A flush waits for the thread that sends what is printed, even when there is nothing, and ipykernel flushes four times
# behind each cell: a fifth of the time that it takes. There is nothing when the buffers are empty and still those that
# the last flush has left: each time that the thread takes some to send them, it leaves new ones.
#
# A write waits for nobody: who prints faster than that thread sends would fill the memory, and one message of hundreds
# of megabytes can take longer than the cell has left. So a flush follows each megabyte; `write` itself is IPython's to
# replace, around each cell.
STREAMS = """
import sys

def arrange_flushes(stream):
    schedule, flush, left = stream._schedule_flush, stream.flush, None
    def flush_what_is_there():
        nonlocal left
        if stream._buffers or stream._buffers is not left:
            flush()
            left = stream._buffers
    def schedule_or_flush():
        schedule()
        with stream._buffer_lock:
            size = sum(buffer.tell() for buffer in stream._buffers.values())
        if size > 1_000_000:
            flush()
    stream.flush, stream._schedule_flush = flush_what_is_there, schedule_or_flush

for stream in (sys.stdout, sys.stderr):
    own = ('_buffers', '_buffer_lock', '_schedule_flush')
    if all(hasattr(stream, name) for name in own) and 'flush' not in vars(stream):
        arrange_flushes(stream)
"""


def prepare():
    return '; '.join('exec(%r, {})' % code for code in (AFTER_CELLS, STREAMS))


def arrange(cwd, env):
    """Changes the directory and the environment."""
    gone = [name for name, value in env.items() if value is None]
    kept = {name: value for name, value in env.items() if value is not None}
    steps = [] if cwd is None else ['os.chdir(%r)' % cwd]
    steps += ['os.environ.update(%r)' % kept, '[os.environ.pop(name, None) for name in %r]' % gone]
    return '(lambda os: [%s])(__import__("os"))' % ', '.join(steps)


def why_not_arranged(cwd, reply):
    """In the words that the other interpreters have for it, instead of `[Errno 2] No such file: '/there'`."""
    ename, evalue = str(reply.get('ename')), str(reply.get('evalue'))
    number, _, text = evalue.partition('] ')
    if number.startswith('[Errno ') and cwd is not None:
        return 'DirectoryError', 'working directory %s: %s' % (cwd, text.rpartition(': ')[0] or text)
    return ename, evalue
