"""Packs, signs and unpacks the messages of Jupyter, and encodes the lines for the daemon."""

import codecs
import hmac
import json
import os
import time

DELIMITER = b'<IDS|MSG>'

# NaN and infinity are not JSON, although Python's encoder writes them; they become null.
decode = json.JSONDecoder(parse_constant=lambda name: None).decode
encode = json.JSONEncoder(ensure_ascii=False, separators=(',', ':')).encode
# As bytes: a text would have to be encoded again.
codecs.register_error('show', lambda error: ('\ufffd'.encode() * (error.end - error.start), error.end))


def to_bytes(value):
    """Half a surrogate pair is valid in JSON and in Python, but not in UTF-8."""
    return encode(value).encode('utf-8', 'show')


# The daemon skips longer lines.
MOST_LINE_BYTES = 32 * 1024 * 1024
# Limits for a text that is dropped from a long line, and for a line of a traceback, which is cut.
LARGE_CHARACTERS = 1024 * 1024
ERROR_CHARACTERS = 1000


def to_line(event):
    line = to_bytes(event)
    return line if len(line) < MOST_LINE_BYTES else to_bytes(shortened(event))


def shortened(event):
    """Replaces texts that make a line too long by a note."""
    output = event.get('output', event)
    if 'data' in output:
        return dict(event, output=shortened_data(output)) if 'output' in event else shortened_data(event)
    if output.get('output_type') != 'error':
        return event
    lines = [line[:ERROR_CHARACTERS] for line in output['traceback'][-100:]]
    return dict(event, output=dict(output, evalue=output['evalue'][:ERROR_CHARACTERS], traceback=lines))


def shortened_data(output):
    sizes = {kind: len(value if isinstance(value, str) else encode(value)) for kind, value in output['data'].items()}
    kept = {kind: value for kind, value in output['data'].items() if sizes[kind] <= LARGE_CHARACTERS}
    large = [(kind, size) for kind, size in sizes.items() if kind not in kept]
    notes = ['<%s, %d characters: too large to be shown>' % both for both in large]
    text = kept.get('text/plain')
    return dict(output, data={**kept, 'text/plain': '\n'.join(([text] if text else []) + notes)})


def complain(text):
    os.write(2, ('bridge: %s\n' % text).encode('utf-8', 'show'))


class Signer:
    """Packs and unpacks messages with the key of one kernel."""

    def __init__(self, connection):
        key = connection.get('key', '').encode()
        digest = connection.get('signature_scheme', 'hmac-sha256').replace('hmac-', '', 1)
        self.mac = hmac.new(key, digestmod=digest) if key else None
        self.session = 'boxkeep-%d' % os.getpid()

    def sign(self, parts):
        if self.mac is None:
            return b''
        mac = self.mac.copy()
        for part in parts:
            mac.update(part)
        return mac.hexdigest().encode()

    def pack(self, message_id, message_type, content):
        now = time.time()
        # A kernel drops a message whose signature it has seen before, so each message is unique.
        date = '%s.%06dZ' % (time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now)), now % 1 * 1e6)
        header = {
            'msg_id': message_id,
            'msg_type': message_type,
            'session': self.session,
            'username': 'boxkeep',
            'date': date,
            'version': '5.3',
        }
        parts = [to_bytes(header), b'{}', b'{}', to_bytes(content)]
        return [DELIMITER, self.sign(parts)] + parts

    def unpack(self, frames):
        """The request that a message answers, its type and its content, still encoded."""
        at = frames.index(DELIMITER) + 1
        parts = frames[at + 1 : at + 5]
        if not hmac.compare_digest(frames[at], self.sign(parts)):
            raise ValueError('a message with a wrong signature')
        header, parent, _, content = parts
        return decode(parent.decode()).get('msg_id', ''), decode(header.decode())['msg_type'], content
