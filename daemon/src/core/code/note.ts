/** What is kept beside an interpreter in its directory, so that the next daemon knows whose it is. */
import type { CodeBackendName, Language } from './language.ts';

/** The account that a bridge runs as, and the interpreter that it runs in. */
export interface BridgePlace {
  /** `uid:gid`. */
  readonly account: string;
  readonly python: string;
}

/** What is in a connection file of Jupyter. */
export interface Connection {
  readonly transport: 'ipc' | 'tcp';
  readonly ip: string;
  readonly key: string;
  readonly signature_scheme: string;
  readonly [port: `${string}_port`]: number;
}

/** How a kernel is reached. The directory of a note is the daemon's alone, and so is the key in here. */
export interface KernelNote {
  readonly bridge: BridgePlace;
  readonly connection: Connection;
  /** Has its connection file and its sockets. */
  readonly directory: string;
  readonly interruptMode: 'signal' | 'message';
  readonly language: string;
}

export interface InterpreterNote {
  /** Its own; a session remembers which one it has. */
  readonly id: string;
  readonly backend: CodeBackendName | 'bridge';
  readonly language: Language;
  readonly kernel?: KernelNote;
  readonly bridge?: BridgePlace;
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
