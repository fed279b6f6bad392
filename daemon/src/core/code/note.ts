/** What is kept beside an interpreter in its directory, so that the next daemon knows whose it is. */
import type { CodeBackendName, Language } from './language.ts';

export interface InterpreterNote {
  /** Its own; a session remembers which one it has. */
  readonly id: string;
  readonly backend: CodeBackendName | 'bridge';
  readonly language: Language;
}

export function encodeNote(note: InterpreterNote): string {
  return JSON.stringify({ code: note });
}

/** Null for a note of something else. */
export function decodeNote(text: string): InterpreterNote | null {
  try {
    return (JSON.parse(text) as { code?: InterpreterNote }).code ?? null;
  } catch {
    return null; // Of something whose note is not JSON.
  }
}
