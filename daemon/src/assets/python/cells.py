"""Runs cells: compiles them, shows the value of the last expression, and reports how they ended."""

import __future__
import builtins
import io
import linecache
import os
import sys
import time
import traceback
from gc import collect
from _ast import Expr, Expression, PyCF_ALLOW_TOP_LEVEL_AWAIT, PyCF_ONLY_AST
from _signal import SIGINT
from _signal import signal as set_signal

OURS = "<boxkeep>"
FUTURES = 0
for _name in __future__.all_feature_names:
    FUTURES |= getattr(__future__, _name).compiler_flag
AWAITS = 0x80  # CO_COROUTINE
# Limits on the cells, and on their characters, that tracebacks can quote.
MOST_SOURCES = 1000
MOST_SOURCE_CHARACTERS = 16 << 20


class Cells:
    def __init__(self, events, streams, origin, display, tasks):
        self._events = events
        self._streams = streams
        self._origin = origin
        self._display = display
        self._tasks = tasks
        self._namespace = sys.modules["__main__"].__dict__
        self._sources = {}
        self._futures = 0
        self._is_interruptible = False
        self._last_end = None
        self.count = 0
        # Set by the program once everything of its own exists.
        self.is_pending = None
        sys.displayhook = self._show_result
        set_signal(SIGINT, self._interrupt)

    def run(self, cell, code, cwd=None, env=None, is_program=False, lent=None):
        self.count += 1
        self._origin.begin(cell)
        self._streams.begin(cell)
        set_signal(SIGINT, self._interrupt)
        self._events.send("begin", cell=cell)
        error = None
        before = {}
        self._events.is_interrupted = False
        try:
            self._is_interruptible = True
            try:
                self._enter(cwd, env or {}, lent or {}, before)
                self._run_code(code)
                self._display.figures.show()
                self._events.raise_interrupt()
            finally:
                self._is_interruptible = False
        except BaseException as caught:
            self._is_interruptible = False
            error = caught
        try:
            _set_variables(before, {})
        except BaseException as caught:
            # The code has replaced `os.environ`.
            error = caught if error is None else error
        if not self._events.is_ours:
            self._end_as_child(error)
        exit_code = self._end(cell, error)
        self._origin.end()
        status = "error" if exit_code else "ok"
        self._last_end = {"cell": cell, "status": status, "execution_count": self.count, "exit_code": exit_code}
        if isinstance(error, DirectoryError):
            self._last_end["cwd_error"] = error.reason
        del error
        if is_program and self.is_pending():
            self._last_end["is_pending"] = True
        self.report_end()

    def report_end(self):
        """Reports the end of the last cell, again if the daemon has lost events."""
        if self._last_end is not None:
            self._events.send("end", **self._last_end)

    def report(self):
        """Prints the exception being handled on standard error."""
        kind, value, trace = sys.exc_info()
        sys.stderr.write("\n".join(self._traceback(kind, value, trace)) + "\n")

    def clear(self):
        """Releases the variables as the end of Python does: this program refers to their dictionary until later."""
        names = sorted(self._namespace, key=lambda name: name[:1] != "_" or name[:2] == "__")
        for name in names:
            if name != "__builtins__":
                self._namespace[name] = None
        sys.last_type = sys.last_value = sys.last_traceback = builtins._ = None
        collect()

    def _enter(self, cwd, env, lent, before):
        _set_variables(env, {})
        if cwd is not None:
            try:
                os.chdir(cwd)
            except (OSError, ValueError) as error:
                raise DirectoryError(cwd, getattr(error, "strerror", None) or error) from None
        _set_variables(lent, before)

    def _run_code(self, code):
        name = "<cell %d>" % self.count
        self._keep_source(name, code)
        # A warning is shown once for each line, and these lines are new.
        self._namespace.pop("__warningregistry__", None)
        steps = self._compile(code, name)
        if any(step.co_flags & AWAITS for step, _ in steps):
            self._tasks.run(self._await_steps(steps))
            return
        self._tasks.lend()
        for step, is_result in steps:
            value = eval(step, self._namespace)
            if is_result:
                sys.displayhook(value)

    async def _await_steps(self, steps):
        for step, is_result in steps:
            value = eval(step, self._namespace)
            if step.co_flags & AWAITS:
                value = await value
            if is_result:
                sys.displayhook(value)

    def _compile(self, code, name):
        """Separates the last expression, whose value is shown, from the other statements."""
        flags = self._futures | PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = compile(code, name, "exec", flags | PyCF_ONLY_AST, dont_inherit=True)
        steps = []
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], Expr) else None
        if tree.body:
            steps.append((compile(tree, name, "exec", flags, dont_inherit=True), False))
            self._futures |= steps[0][0].co_flags & FUTURES
            flags |= self._futures
        if last is not None:
            step = compile(Expression(last.value), name, "eval", flags, dont_inherit=True)
            steps.append((step, not self._is_hushed(last, name)))
        return steps

    def _is_hushed(self, last, name):
        """A semicolon at the end hides the value, as in notebooks."""
        line = self._sources[name][2][last.end_lineno - 1].encode()
        return line[last.end_col_offset :].lstrip().startswith(b";")

    def _show_result(self, value):
        if value is None:
            return
        builtins._ = value
        data, metadata = self._display.bundle(value)
        if not data:
            return
        if not self._events.is_ours:
            print(data["text/plain"])
            return
        self._streams.flush()
        self._events.output(
            self._origin.cell(),
            {
                "output_type": "execute_result",
                "execution_count": self.count,
                "data": self._display.sendable(data),
                "metadata": metadata,
            },
        )

    def _end(self, cell, error):
        """Reports the error after all printed output, and returns the exit code."""
        self._streams.flush()
        if error is None:
            return 0
        exit_code = 1
        if isinstance(error, SystemExit):
            exit_code = _exit_code(error.code)
            if exit_code == 0:
                return 0
        kind = type(error)
        lines = self._traceback(kind, error, error.__traceback__)
        # Formatting calls code of the cell, which may print.
        self._streams.flush()
        self._events.output(
            cell, {"output_type": "error", "ename": kind.__name__, "evalue": _text(error), "traceback": lines}
        )
        sys.last_type, sys.last_value, sys.last_traceback = kind, error, error.__traceback__
        return exit_code

    def _end_as_child(self, error):
        """Ends a forked child that leaves the cell, as the end of a program would."""
        if isinstance(error, SystemExit):
            raise error
        if error is not None:
            sys.stderr.write("\n".join(self._traceback(type(error), error, error.__traceback__)) + "\n")
        raise SystemExit(1 if error is not None else 0)

    def _interrupt(self, _, frame):
        """Ctrl-C raises an exception in the code of a cell, and does nothing elsewhere."""
        if not self._is_interruptible or not self._events.is_ours:
            if not self._events.is_ours:
                raise KeyboardInterrupt
            return
        if _is_printing(frame):
            self._events.is_interrupted = True
        elif not self._tasks.cancel_where_idle(frame):
            raise KeyboardInterrupt

    def _keep_source(self, name, code):
        self._sources[name] = (len(code), None, io.StringIO(code, newline=None).readlines(), name)
        while len(self._sources) > MOST_SOURCES or (
            len(self._sources) > 1 and sum(entry[0] for entry in self._sources.values()) > MOST_SOURCE_CHARACTERS
        ):
            oldest = next(iter(self._sources))
            del self._sources[oldest]
            linecache.cache.pop(oldest, None)
        linecache.cache[name] = self._sources[name]

    def _traceback(self, kind, error, trace):
        try:
            if isinstance(error, (DirectoryError, EnvironmentVariableError)):
                return ["%s: %s" % (kind.__name__, error)]
            if isinstance(error, SystemExit):
                trace = None
            linecache.cache.update(self._sources)
            formatted = traceback.TracebackException(kind, error, _without_ours(trace))
            _forget_ours(formatted)
            return "".join(formatted.format()).rstrip("\n").split("\n") + _hint(error)
        except BaseException:
            # The cell has broken the formatting code, or its exception cannot be formatted: show only its name.
            return ["%s: %s" % (kind.__name__, _text(error))]


class DirectoryError(OSError):
    """The requested directory cannot be entered."""

    def __init__(self, cwd, reason):
        super().__init__("working directory %s: %s" % (cwd, reason))
        self.reason = str(reason)


class EnvironmentVariableError(ValueError):
    """A requested variable cannot be set."""


def _set_variables(env, before):
    """Sets or unsets variables, and notes in `before` what each one was."""
    for name, value in env.items():
        try:
            before[name] = os.environ.get(name)
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
            if name == "TZ":
                time.tzset()
        except (OSError, ValueError, TypeError) as error:
            raise EnvironmentVariableError("environment variable %r: %s" % (name, error)) from None


def _is_printing(frame):
    """True while an event is being written, which an interrupt must not cut."""
    while frame is not None and frame.f_globals.get("__name__") == "codecs":
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__") in ("boxkeep.events", "boxkeep.streams")


def _without_ours(trace):
    """The traceback without the frames of this program and of the event loop."""
    own = trace
    while own is not None and not own.tb_frame.f_code.co_filename.startswith("<cell "):
        own = own.tb_next
    return trace if own is None else own


def _forget_ours(formatted):
    """Removes our frames, such as those of a print, from an exception and its causes."""
    pending, seen = [formatted], set()
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.stack[:] = [frame for frame in one.stack if frame.filename != OURS]
        pending += [one.__cause__, one.__context__] + list(getattr(one, "exceptions", None) or ())


def _hint(error):
    line = (getattr(error, "text", None) or "").lstrip() if isinstance(error, SyntaxError) else ""
    if line[:1] in ("%", "!"):
        return ["Lines with % or ! are for IPython, and this is plain Python: subprocess.run() runs a command."]
    return []


def _text(error):
    try:
        return str(error)
    except BaseException:
        return "<no text: its __str__ failed>"


def _exit_code(code):
    if code is None:
        return 0
    return code & 0xFF if isinstance(code, int) else 1
