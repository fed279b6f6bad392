/** Reads a form with one file: a part called `file`, and fields before or after it. */
import { InvalidInput } from '../route/envelope.ts';
import { formParts } from './multipart.ts';

export interface FileTaker {
  /** Called once, and awaited before the next part is read. */
  takeFile(fileName: string, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  takeField(name: string, value: string): void;
}

/** Throws `InvalidInput` when the file is missing, repeated or under another name. */
export async function takeFileForm(
  content: AsyncIterable<Uint8Array>,
  contentType: string,
  taker: FileTaker,
): Promise<void> {
  let hasFile = false;
  for await (const part of formParts(content, contentType, 'file')) {
    if (part.kind === 'field') {
      taker.takeField(part.name, part.value);
    } else if (part.name !== 'file') {
      const name = part.name.slice(0, 100);
      throw invalidPart(name, 'is not a part of this form; the file is called file', 'value_error');
    } else if (hasFile) {
      throw invalidPart('file', 'appears twice', 'value_error');
    } else {
      hasFile = true;
      await taker.takeFile(part.fileName, part.pieces);
    }
  }
  if (!hasFile) throw noFile();
}

export function noFile(): InvalidInput {
  return invalidPart('file', 'is required', 'missing');
}

export function invalidPart(name: string, message: string, type: string): InvalidInput {
  return new InvalidInput([{ location: `body.${name}`, message, type }]);
}
