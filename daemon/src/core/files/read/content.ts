/** Decodes file content that a client sent, and fits text to the file that it is appended to. */
import type { FileHandle } from 'node:fs/promises';
import { CoreError } from '../../../kit/errors.ts';
import { lineEndsOf, withLineEnds, type LineEnds } from '../line-ends.ts';
import { encodeText, encodingOf, type TextEncoding } from './text-encoding.ts';

export const contentEncodings = ['utf-8', 'base64', 'raw'] as const;
export type ContentEncoding = (typeof contentEncodings)[number];

/** What is written: bytes as they are, or text. */
export type NewText = { readonly text: string; readonly newlineBefore: boolean; readonly newlineAfter: boolean };
export type WrittenContent = Uint8Array | NewText;

export interface TextForm {
  readonly encoding: TextEncoding;
  readonly lineEnds: LineEnds;
}

export const plainForm: TextForm = { encoding: 'utf-8', lineEnds: 'none' };

/** Text with LF takes the line ends of the file. Text with CR says itself what it wants. */
export function bytesInForm(content: WrittenContent, { encoding, lineEnds }: TextForm): Uint8Array {
  if (content instanceof Uint8Array) return content;
  const isFitted = (lineEnds === '\r\n' || lineEnds === '\r') && !content.text.includes('\r');
  const newline = isFitted ? lineEnds : '\n';
  const text = isFitted ? withLineEnds(content.text, lineEnds) : content.text;
  return encodeText(`${content.newlineBefore ? newline : ''}${text}${content.newlineAfter ? newline : ''}`, encoding);
}

/** An even number, so that the last part of UTF-16 text begins with a whole character. */
const lookBytes = 64 * 1024;

/** The form of a file, by its first and its last part. */
export async function formOf(file: FileHandle): Promise<TextForm> {
  const { size } = await file.stat();
  const part = async (at: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, lookBytes)), 0, undefined, at);
    return buffer.subarray(0, bytesRead);
  };
  const first = await part(0);
  const encoding = encodingOf(first);
  const last = await part(Math.max(0, Math.floor((size - lookBytes) / 2) * 2));
  const decoder = new TextDecoder(encoding);
  return { encoding, lineEnds: lineEndsOf(`${decoder.decode(first)}${decoder.decode(last)}`) };
}

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
