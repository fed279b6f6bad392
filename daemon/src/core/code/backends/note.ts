/** Defines the note beside each interpreter, by which the next daemon finds the interpreter's session. */
import type { ProcessNote } from '../../../platform/process/spawn.ts';
import type { CodeBackendName, Language } from '../language.ts';

/** The account and the Python of a bridge. */
export interface BridgePlace {
  /** `uid:gid`. */
  readonly account: string;
  readonly python: string;
}

/** The content of a Jupyter connection file. */
export interface Connection {
  readonly transport: 'ipc' | 'tcp';
  readonly ip: string;
  readonly key: string;
  readonly signature_scheme: string;
  readonly [port: `${string}_port`]: number;
}

/** How to reach a kernel. Only the daemon can read the directory of a note, so the note may contain the key. */
export interface KernelNote {
  readonly bridge: BridgePlace;
  readonly connection: Connection;
  /** The directory of the connection file and the sockets. */
  readonly directory: string;
  readonly interruptMode: 'signal' | 'message';
  readonly language: string;
}

export interface InterpreterNote {
  /** The id of the interpreter. A session stores the id of its interpreter. */
  readonly id: string;
  readonly backend: CodeBackendName | 'bridge';
  readonly language: Language;
  readonly kernel?: KernelNote;
  readonly bridge?: BridgePlace;
}

export function readNote(note: ProcessNote): InterpreterNote {
  return (note as { readonly code: InterpreterNote }).code;
}
