/**
 * Encodes Jupyter messages as binary WebSocket frames, which saves the server the decoding.
 *
 * A frame is the number of offsets, the offsets, and between them the channel, the header, the parent header, metadata
 * and content.
 */

export const subprotocol = 'v1.kernel.websocket.jupyter.org';

/** The part of a message that the bench reads. */
export interface JupyterMessage {
  readonly type: string;
  /** The id of the message that this message answers. */
  readonly answers: string | undefined;
  readonly content: () => JupyterContent;
}

export interface JupyterContent {
  readonly text?: string;
  readonly evalue?: string;
  readonly execution_state?: string;
}

const wordBytes = 8;
const session = crypto.randomUUID();

export function encode(channel: string, id: string, type: string, content: object): Buffer<ArrayBuffer> {
  const date = new Date().toISOString();
  const header = { msg_id: id, msg_type: type, username: '', session, date, version: '5.3' };
  const parts = [channel, ...[header, {}, {}, content].map((part) => JSON.stringify(part))].map((part) =>
    Buffer.from(part),
  );
  const frame = Buffer.alloc(wordBytes * (parts.length + 2) + parts.reduce((sum, { length }) => sum + length, 0));
  frame.writeBigUInt64LE(BigInt(parts.length + 1));
  let offset = wordBytes * (parts.length + 2);
  for (const [index, part] of parts.entries()) {
    frame.writeBigUInt64LE(BigInt(offset), wordBytes * (index + 1));
    offset += part.copy(frame, offset);
  }
  frame.writeBigUInt64LE(BigInt(offset), wordBytes * (parts.length + 1));
  return frame;
}

export function decode(frame: Buffer): JupyterMessage {
  const word = (index: number) => Number(frame.readBigUInt64LE(wordBytes * index));
  const part = (index: number) => JSON.parse(frame.toString('utf8', word(index + 1), word(index + 2))) as unknown;
  const header = part(1) as { msg_type: string };
  const parent = part(2) as { msg_id?: string };
  return { type: header.msg_type, answers: parent.msg_id, content: () => part(4) as JupyterContent };
}
