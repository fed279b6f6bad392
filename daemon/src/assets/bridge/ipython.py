"""Code that the bridge runs silently in Python kernels, without names or history left behind."""

PYTHON_ONLY = 'cwd and env can change in kernels of Python only, and not in one of %s'

# A thread of ipykernel reads the output of child processes and libraries from a pipe. A cell is over only when the pipe
# is empty and that thread waits in its read; otherwise one line in a hundred would follow the end of its cell. The
# second word of `syscall` is the descriptor of the read.
#
# A background process may fill the pipe forever, so the wait is bounded. The bound counts turns, because on a busy machine
# both threads wait equally long for a processor: 500 turns are about 0.1 s on an idle one.
#
# Code may replace or delete the streams; an ipykernel ends when it cannot flush them.
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

def restore():
    for name, stream in own.items():
        if not callable(getattr(getattr(sys, name, None), 'flush', None)):
            setattr(sys, name, stream)

def drain():
    restore()
    deadline, turns = time.monotonic() + 2, 500
    while not (is_drained(sys.stdout) and is_drained(sys.stderr)) and turns > 0 and time.monotonic() < deadline:
        time.sleep(0.0002)
        turns -= 1

shell = get_ipython()
if not hasattr(shell, '_boxkeep_drain'):
    shell._boxkeep_drain = drain
    shell._boxkeep_streams = own
    shell.events.register('post_execute', drain)
"""

# ipykernel flushes four times after each cell, a fifth of the cell's time, and each flush waits for the sending thread.
# Nothing is pending when the buffers are empty and are those that the last flush left: the sender replaces buffers.
#
# A write never waits, so fast output would fill the memory, and a message of hundreds of megabytes can outlast the
# timeout of its cell. A flush therefore follows each megabyte. `write` itself stays, because IPython replaces it.
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


# The arguments of the kernel are none of the code's: `argparse` would refuse them.
ARGUMENTS = """
import sys

sys.argv[:] = ['']
"""

# Called after the exit functions of the code and before those of ipykernel, which close the streams unflushed. Releases
# the variables as the end of Python would, then tells the bridge that no more output of the code follows.
ENDING = """
import atexit
from IPython import get_ipython

def end(shell=get_ipython()):
    for step in (lambda: shell.reset(new_session=False), shell._boxkeep_drain):
        try:
            step()
        except Exception:
            pass  # The code has replaced what this needs. Its other output still follows.
    for stream in (shell._boxkeep_streams['stdout'], shell._boxkeep_streams['stderr']):
        stream.flush()
    shell.kernel.session.send(shell.kernel.iopub_socket, 'boxkeep_closed', {})

atexit.register(end)
"""

# A shutdown request would first end the child processes, and wait seconds for those that the code has not reaped.
LEAVE = '(lambda loop: loop.call_later(0.001, loop.stop))(get_ipython().kernel.io_loop)'

# Whether the end of the kernel would still do something: `pending.py`, which the bridge is given as text.
PENDING = ''
KEEP_PENDING = """
from IPython import get_ipython

get_ipython()._boxkeep_is_pending = is_pending
"""
ASK_PENDING = 'get_ipython()._boxkeep_is_pending()'


# Gives variables to one cell: `lend.py`, as text.
LEND = ''


def prepare():
    return '; '.join('exec(%r, {})' % code for code in (AFTER_CELLS, STREAMS, ARGUMENTS, ENDING, PENDING + KEEP_PENDING))


def install(formats):
    return 'exec(%r, {})' % (formats + 'install()')


def arrange(cwd, env, lent):
    """Changes the directory and the environment, and gives variables to the next cell."""
    gone = [name for name, value in env.items() if value is None]
    kept = {name: value for name, value in env.items() if value is not None}
    steps = [] if cwd is None else ['os.chdir(%r)' % cwd]
    steps += ['os.environ.update(%r)' % kept, '[os.environ.pop(name, None) for name in %r]' % gone]
    if lent:
        steps.append('exec(%r, {})' % (LEND + 'lend(%r)' % lent))
    return '(lambda os: [%s])(__import__("os"))' % ', '.join(steps)


def why_not_arranged(cwd, reply):
    """The reply of a cell that cannot run, worded as by the other interpreters."""
    ename, evalue = str(reply.get('ename')), str(reply.get('evalue'))
    number, _, text = evalue.partition('] ')
    if number.startswith('[Errno ') and cwd is not None:
        reason = text.rpartition(': ')[0] or text
        return {'ename': 'DirectoryError', 'evalue': 'working directory %s: %s' % (cwd, reason), 'cwd_error': reason}
    return {'ename': ename, 'evalue': evalue}
