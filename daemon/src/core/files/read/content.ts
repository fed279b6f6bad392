/** Decodes file content that a client sent as text. */
import { CoreError } from '../../../kit/errors.ts';

export const contentEncodings = ['utf-8', 'base64', 'raw'] as const;
export type ContentEncoding = (typeof contentEncodings)[number];

/** `raw` encodes each byte as one character from U+0000 to U+00FF. Throws `bad_argument`. */
export function bytesOfContent(content: string, encoding: ContentEncoding): Buffer {
  switch (encoding) {
    case 'utf-8':
      return Buffer.from(content);
    case 'base64':
      return fromBase64(content);
    case 'raw':
      return fromLatin1(content);
  }
}

/** Checks first, because the runtime's decoder silently skips invalid characters and would write wrong bytes. */
function fromBase64(content: string): Buffer {
  const text = content.replaceAll(/[\r\n]/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) {
    throw new CoreError('bad_argument', 'content is not base64', {
      hint: 'Use the alphabet of RFC 4648, with padding.',
    });
  }
  return Buffer.from(text, 'base64');
}

function fromLatin1(content: string): Buffer {
  const at = content.search(/[^\u0000-\u00ff]/);
  if (at !== -1) {
    throw new CoreError('bad_argument', `raw content has a character above U+00FF at ${at}`, {
      hint: 'Send text as utf-8, or bytes as base64.',
    });
  }
  return Buffer.from(content, 'latin1');
}
