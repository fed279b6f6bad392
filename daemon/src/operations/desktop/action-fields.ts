/** The fields and limits that the vocabularies of desktop actions share. */
import { z } from 'zod';

/** Longer text is a file, which the file routes write in one call. */
export const maxTextLength = 100_000;
/** The limit of the clipboard in bytes, which no text of more characters meets. */
export const maxClipboardLength = 1024 * 1024;
/** No shortcut has more keys. */
export const maxKeys = 16;
const maxWaitSeconds = 60;

export const coordinate = z.number().min(-100_000).max(100_000);

export const keyText = z
  .string()
  .min(1)
  .max(200)
  .describe('One key, or keys joined by a plus sign: `Return`, `a`, `ctrl+shift+t`.');

export const waitSeconds = z.number().gt(0).max(maxWaitSeconds).describe('Seconds, at most 60.');

export const typedText = z.string().min(1).max(maxTextLength);
