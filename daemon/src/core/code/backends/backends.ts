/** Chooses the backend for a language. Each request checks again what is installed. */
import { CoreError } from '../../../kit/errors.ts';
import type { CodeBackend } from './backend.ts';
import { poolKindOf, type CodeBackendName, type Language } from '../language.ts';
import type { SessionRecord } from '../sessions/record.ts';

export type PinnedBackend = 'auto' | 'native' | 'kernel';

/** A backend that may or may not be available. */
export interface Candidate {
  readonly backend: CodeBackend;
  /** One sentence about what is missing for this account; null when the backend is usable. */
  missing(user: string | null): Promise<string | null>;
  /** The names of the available kernels for this account, default kernel first. */
  kernels(user: string | null): Promise<readonly string[]>;
  /** True for a backend that only runs requests that name one of its kernels. */
  readonly isForNamed?: boolean;
  /** Additional kernel names, such as `python3.12`. */
  versions?(user: string | null): Promise<readonly string[]>;
}

/** The current state of a backend. */
export interface BackendStanding {
  readonly name: CodeBackendName;
  readonly missing: string | null;
  readonly kernels: readonly string[];
  /** False for a backend that only runs requests that name one of its kernels. */
  readonly isAllowed: boolean;
}

export interface BackendsDeps {
  /** Candidates for each language, best first. */
  readonly candidates: Readonly<Record<Language, readonly Candidate[]>>;
  readonly pinned: PinnedBackend;
}

export class Backends {
  constructor(private readonly deps: BackendsDeps) {}

  /** Throws `unavailable` with what was looked for, or `kernel_unknown` for an unknown kernel. */
  async choose(language: Language, kernel: string | null, user: string | null): Promise<CodeBackend> {
    if (kernel !== null) return await this.#withKernel(language, kernel, user);
    const missing: string[] = [];
    for (const candidate of this.#candidates(language).filter((one) => this.#isAllowed(one))) {
      const lack = await candidate.missing(user);
      if (lack === null) return candidate.backend;
      missing.push(lack);
    }
    throw new CoreError('unavailable', `no interpreter can run ${language}: ${missing.join('; ')}`, {
      isRetryable: false,
      hint: language === 'python' ? 'Install python3 in the image.' : 'Install Node.js (node) in the image.',
    });
  }

  /** Finds the backend of a kernel, even if another backend is pinned. */
  async #withKernel(language: Language, kernel: string, user: string | null): Promise<CodeBackend> {
    const known: string[] = [];
    for (const { backend, kernels } of this.#candidates(language)) {
      const names = await kernels(user);
      if (names.includes(kernel)) return backend;
      known.push(...names);
    }
    throw unknownKernel(language, kernel, known);
  }

  /** The best or the named kernel, even if another backend is pinned. Throws `not_implemented`, `kernel_unknown`. */
  async chooseKernel(kernel: string | null, user: string | null): Promise<CodeBackend> {
    const missing: string[] = [];
    const known: string[] = [];
    for (const candidate of this.#kernelCandidates) {
      const lack = await candidate.missing(user);
      if (lack !== null) missing.push(lack);
      if (kernel === null && lack === null) return candidate.backend;
      const names = kernel === null ? [] : await allNames(candidate, user);
      if (kernel !== null && names.includes(kernel)) return candidate.backend;
      known.push(...names);
    }
    throw kernel === null || known.length === 0 ? noKernel(missing) : unknownKernel('python', kernel, known);
  }

  /** The names that `chooseKernel` accepts, default kernel first. Throws `not_implemented`. */
  async kernels(user: string | null): Promise<readonly string[]> {
    await this.chooseKernel(null, user);
    const names = await Promise.all(this.#kernelCandidates.map((candidate) => allNames(candidate, user)));
    return [...new Set(names.flat())];
  }

  /** All backends of a language, and what is missing for each. */
  async look(language: Language): Promise<BackendStanding[]> {
    const looks = this.#candidates(language).map(async (candidate) => ({
      name: candidate.backend.name,
      missing: await candidate.missing(null),
      kernels: await candidate.kernels(null),
      isAllowed: this.#isAllowed(candidate),
    }));
    return await Promise.all(looks);
  }

  of(record: Pick<SessionRecord, 'backend' | 'language'>): CodeBackend {
    const found = this.#find(record);
    if (found) return found;
    throw new CoreError('unavailable', `this daemon has no backend called ${record.backend}`, {
      isRetryable: false,
      hint: 'Use another session.',
    });
  }

  has(record: Pick<SessionRecord, 'backend' | 'language'>): boolean {
    return this.#find(record) !== null;
  }

  #find({ backend: name, language }: Pick<SessionRecord, 'backend' | 'language'>): CodeBackend | null {
    const found = this.#candidates(language).find(({ backend }) => backend.name === name);
    return found?.backend ?? null;
  }

  get #kernelCandidates(): readonly Candidate[] {
    return this.#candidates('python').filter(({ backend }) => poolKindOf(backend.name) === 'kernel');
  }

  #candidates(language: Language): readonly Candidate[] {
    return this.deps.candidates[language];
  }

  #isAllowed({ backend: { language, name }, isForNamed = false }: Candidate): boolean {
    const { pinned } = this.deps;
    if (isForNamed) return false;
    if (pinned === 'auto' || language === 'javascript') return true;
    return poolKindOf(name) === (pinned === 'kernel' ? 'kernel' : 'repl');
  }
}

async function allNames(candidate: Candidate, user: string | null): Promise<readonly string[]> {
  return [...(await candidate.kernels(user)), ...((await candidate.versions?.(user)) ?? [])];
}

function noKernel(missing: readonly string[]): CoreError {
  return new CoreError('not_implemented', `there is no Jupyter kernel here: ${missing.join('; ')}`, {
    hint: 'Install ipykernel in the image: pip install ipykernel.',
    next: { operation: 'code.runWithoutKernel' },
  });
}

function unknownKernel(language: Language, kernel: string, known: readonly string[]): CoreError {
  const choices = known.length === 0 ? 'none is installed' : `there are ${known.join(', ')}`;
  const help = language === 'python' ? ', or install one: pip install ipykernel brings python3' : '';
  return new CoreError('kernel_unknown', `no kernel for ${language} is called ${kernel}; ${choices}`, {
    hint: `Leave kernel out${help}.`,
    facts: { kernels: known },
  });
}
