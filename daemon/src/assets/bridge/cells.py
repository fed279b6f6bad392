"""A cell: which signs of its end are missing, and how the daemon sees its outputs."""

UNHEARD = {
    'ename': 'EndUnknown',
    'evalue': 'the cell ended while no daemon listened to its kernel; the result is unknown',
}
NO_INPUT = 'input() and getpass() cannot ask: a cell has no standard input'


class Cell:
    def __init__(self, cell, code='', cwd=None, env=None, is_program=False, is_partial=False, lent=None, formats=None):
        self.cell = cell
        self.code = code
        self.cwd = cwd
        self.env = env or {}
        self.lent = lent or {}
        self.formats = formats
        # The kernel ends with the cell.
        self.is_program = is_program
        # An earlier bridge saw the begin.
        self.is_partial = is_partial
        # The two signs of the end. An empty reply stands for a lost one.
        self.reply = None
        self.is_idle = False
        # When to ask for the missing sign.
        self.probe_at = None
        self.has_error = False


def shown(content):
    return {'data': content['data'], 'metadata': content.get('metadata') or {}}


def error_output(content):
    ename, evalue = str(content.get('ename', 'Aborted')), str(content.get('evalue', 'the kernel has not run this cell'))
    traceback = list(content.get('traceback') or []) or ['%s: %s' % (ename, evalue)]
    if ename == 'StdinNotImplementedError':
        traceback[-1] = traceback[-1].replace(evalue, NO_INPUT)
        evalue = NO_INPUT
    return {'output_type': 'error', 'ename': ename, 'evalue': evalue, 'traceback': traceback}


def is_pending(reply):
    """Whether the end of the kernel would still do something, as far as the reply says."""
    answer = (reply.get('user_expressions') or {}).get('pending') or {}
    return (answer.get('data') or {}).get('text/plain') != 'False'


def exit_code_of(reply):
    """None for a lost reply. The argument of sys.exit is the text of its exception."""
    if not reply:
        return None
    if reply['status'] == 'ok':
        return 0
    if reply.get('ename') != 'SystemExit':
        return 1
    text = str(reply.get('evalue', ''))
    if text in ('', 'None'):
        return 0
    return int(text) & 255 if text.lstrip('-').isdigit() else 1
