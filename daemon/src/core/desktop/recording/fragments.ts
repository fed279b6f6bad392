/** Cuts a stream of fragmented MP4 into pieces after each of which the file is playable. */

/** The size and the name of a box, and the size in 64 bits where the first one is 1 (ISO 14496-12, section 4.2). */
const shortHeaderBytes = 8;
const longHeaderBytes = 16;
/** A second of film at a display's full resolution is far smaller. */
const maxPieceBytes = 64 * 1024 * 1024;
/** A file may end after these boxes: after the description of the film, and after the pictures of a fragment. */
const lastBoxes = new Set(['moov', 'mdat', 'mfra']);

export class Fragments {
  #rest = Buffer.alloc(0);

  /** Takes bytes of the stream; returns the pieces that are whole now. Throws for what is not such a stream. */
  push(bytes: Uint8Array): Buffer[] {
    this.#rest = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
    const pieces: Buffer[] = [];
    for (let end = pieceEnd(this.#rest); end !== null; end = pieceEnd(this.#rest)) {
      pieces.push(this.#rest.subarray(0, end));
      this.#rest = this.#rest.subarray(end);
    }
    if (this.#rest.length > maxPieceBytes) throw new Error(`one second of film is over ${maxPieceBytes} bytes`);
    return pieces;
  }
}

/** Whether the piece has frames; the others describe the film or index it. */
export function hasFrames(piece: Buffer): boolean {
  return piece.toString('latin1', 4, shortHeaderBytes) === 'moof';
}

/** The end of the first fragment; null while the fragment is incomplete. */
function pieceEnd(bytes: Buffer): number | null {
  let at = 0;
  while (at + shortHeaderBytes <= bytes.length) {
    const short = bytes.readUInt32BE(at);
    if (short === 1 && at + longHeaderBytes > bytes.length) return null;
    const size = short === 1 ? Number(bytes.readBigUInt64BE(at + shortHeaderBytes)) : short;
    if (size < shortHeaderBytes) throw new Error('the encoder does not write fragmented MP4');
    const name = bytes.toString('latin1', at + 4, at + shortHeaderBytes);
    at += size;
    if (at > bytes.length) return null;
    if (lastBoxes.has(name)) return at;
  }
  return null;
}
