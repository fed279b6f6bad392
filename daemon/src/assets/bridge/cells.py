"""A cell, what of it is still awaited, and what its outputs look like to the daemon."""

UNHEARD = {
    'ename': 'EndUnknown',
    'evalue': 'the cell has ended while nobody listened to its kernel; whether it went well is not known',
}
NO_INPUT = 'input() and getpass() have nobody to ask: a cell has no standard input'


class Cell:
    def __init__(self, cell, code='', cwd=None, env=None, is_partial=False):
        self.cell = cell
        self.code = code
        self.cwd = cwd
        self.env = env or {}
        # Begun by an earlier bridge.
        self.is_partial = is_partial
        # The two signs of its end. An empty reply stands for one that nobody has heard.
        self.reply = None
        self.is_idle = False
        # When the one that is missing is asked after.
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


def exit_code_of(reply):
    """None where nobody has heard the reply; what sys.exit was given is the text of its exception."""
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
