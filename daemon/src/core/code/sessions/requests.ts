/** Defines the requests of the code plane: sessions, cells in a session, and single runs. */
import type { EnvironmentChanges } from '../../processes/environment.ts';
import type { CellRequest } from '../cells/cell.ts';
import type { Language } from '../language.ts';

export interface NewSession {
  /** The caller's own id. If the session exists, the caller gets that session. */
  readonly id: string | null;
  readonly language: Language;
  /** The name of a kernelspec; null is the best backend for the language. */
  readonly kernel: string | null;
  readonly cwd: string | null;
  readonly env: EnvironmentChanges;
  readonly user: string | null;
  /** Use a kernel, even if another backend is pinned. An existing session on any kernel is accepted. */
  readonly onKernel?: boolean;
  /** Refuse an existing session with another directory or another environment. */
  readonly isExact?: boolean;
  /** Replaces the idle limit of the kind. */
  readonly idleMs?: number;
}

export interface CellSpec extends CellRequest, Pick<NewSession, 'language' | 'kernel' | 'user' | 'onKernel'> {
  /** null is a single run: a new interpreter that ends after the cell. */
  readonly sessionId: string | null;
  /** The code itself enters `cwd`, so a missing directory becomes an error of the code. */
  readonly entersDirectory?: boolean;
  /** The run gets a new directory of its own, unless `cwd` names one. */
  readonly hasOwnDirectory?: boolean;
  /** File contents by name, relative to the directory of the run. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface SessionLimits {
  readonly max: number;
  readonly idleMs: number;
}
