/** Encodes a long text for JSON in time slices, so that the records that contain it are built without delay. */
import { TimeSlices } from '../slices.ts';

/** Characters encoded between two checks of the clock. */
const pieceCharacters = 128 * 1024;
/** The JSON with a text up to this size is one piece: a process confirms each piece before the next one is sent. */
const shortCharacters = 16 * 1024;

/** A text as a JSON string in UTF-8. */
export class EncodedText {
  /** Stands for the text in the values that `jsonOf` encodes. */
  readonly placeholder: string = crypto.randomUUID();

  /** Without its quotes; in pieces where the text is long. */
  private constructor(private readonly encoded: string | readonly Uint8Array[]) {}

  static async of(text: string): Promise<EncodedText> {
    if (text.length <= shortCharacters) return new EncodedText(encode(text));
    const slices = new TimeSlices();
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < text.length; at += pieceCharacters) {
      // A surrogate pair that is cut becomes two escapes, which JSON reads as the pair again.
      pieces.push(Buffer.from(encode(text.slice(at, at + pieceCharacters))));
      await slices.next();
    }
    return new EncodedText(pieces);
  }

  /** The JSON of a value, with the text in place of the placeholder, followed by `end`. A long text is not copied. */
  jsonOf(value: object, end = ''): readonly Uint8Array[] {
    const [before = '', after = ''] = JSON.stringify(value).split(this.placeholder);
    const { encoded } = this;
    if (typeof encoded === 'string') return [Buffer.from(before + encoded + after + end)];
    return [Buffer.from(before), ...encoded, Buffer.from(after + end)];
  }
}

function encode(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
