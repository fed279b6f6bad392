/** Reports what can run code in the sandbox, and the limits. */
import type { Probe } from '../capabilities/capabilities.ts';
import type { CodeCapability } from '../capabilities/report.ts';
import type { Backends, BackendStanding } from './backends/backends.ts';
import { maxCharacters } from './cells/outputs.ts';
import { languages, type CodeBackendName, type Language, type PoolKind } from './language.ts';
import type { SessionLimits } from './sessions/requests.ts';

export interface LanguageRecord {
  /** The backend that runs the language now; null when there is none. */
  readonly backend: CodeBackendName | null;
  /** Backends, best first. */
  readonly backends: readonly BackendStanding[];
  readonly path: string | null;
  /** null while the version is not known. */
  readonly version: string | null;
}

export interface CodeRuntimes {
  readonly languages: Readonly<Record<Language, LanguageRecord>>;
  readonly limits: {
    readonly sessions: Readonly<Record<PoolKind, SessionLimits>>;
    readonly maxCharacters: number;
  };
}

/** An interpreter on PATH, under any of its names. */
interface KnownInterpreter {
  readonly path: string;
  readonly version: string | null;
}

export interface CodeInfoDeps {
  readonly backends: Backends;
  readonly limits: Readonly<Record<PoolKind, SessionLimits>>;
  /** The path of the interpreter of a language; null when it is not on PATH. */
  readonly find: (language: Language) => string | null;
  readonly versions: () => Promise<{
    readonly python: readonly KnownInterpreter[];
    readonly node: readonly KnownInterpreter[];
  }>;
}

export interface KernelRecord {
  /** Kernel names, default kernel first. */
  readonly names: readonly string[];
  readonly limits: SessionLimits;
}

export class CodeInfo {
  constructor(private readonly deps: CodeInfoDeps) {}

  /** Throws `not_implemented` when no kernel is available. */
  async needKernel(): Promise<void> {
    await this.deps.backends.chooseKernel(null, null);
  }

  /** The kernels for code that must run in a kernel. Throws `not_implemented` when there is none. */
  async kernels(): Promise<KernelRecord> {
    return { names: await this.deps.backends.kernels(null), limits: this.deps.limits.kernel };
  }

  async look(): Promise<CodeRuntimes> {
    const { python, node } = await this.deps.versions();
    const known = [...python, ...node];
    const records = languages.map(async (language) => [language, await this.#record(language, known)] as const);
    return {
      languages: Object.fromEntries(await Promise.all(records)) as Record<Language, LanguageRecord>,
      limits: { sessions: this.deps.limits, maxCharacters },
    };
  }

  get probe(): Probe<CodeCapability> {
    const atOnce = () => this.#atOnce();
    return {
      look: () => this.#capability(),
      get unknown() {
        return atOnce();
      },
    };
  }

  /**
   * Facts that need no running interpreter, because some interpreters need seconds to list their kernels. What is on
   * PATH runs code, so that a busy machine is not reported as degraded.
   */
  #atOnce(): Omit<CodeCapability, 'missing' | 'warnings'> {
    const [python, node] = [this.deps.find('python'), this.deps.find('javascript')];
    const found = languages.filter((language) => this.deps.find(language) !== null);
    return {
      ...{ status: standingOf(found), languages: found, python, node },
      ...{ backend: null, jupyterBackend: null, pythonKernels: [] },
    };
  }

  async #capability(): Promise<CodeCapability> {
    const records = await Promise.all(languages.map(async (language) => this.#record(language, [])));
    const [python, javascript] = records;
    const missing = records.flatMap(({ backends, backend }, index) =>
      backend === null
        ? backends.filter(({ isAllowed }) => isAllowed).map((one) => `${languages[index]}: ${one.missing}`)
        : [],
    );
    const kernels = (python?.backends ?? []).filter(({ name }) => name !== 'native');
    const runs = languages.filter((_, index) => records[index]?.backend !== null);
    return {
      status: standingOf(runs),
      missing,
      warnings: [],
      backend: python?.backend ?? null,
      jupyterBackend: kernels.find(({ missing: lack }) => lack === null)?.name ?? null,
      pythonKernels: [...new Set(kernels.flatMap((one) => one.kernels))],
      languages: runs,
      python: python?.path ?? null,
      node: javascript?.path ?? null,
    };
  }

  async #record(language: Language, known: readonly KnownInterpreter[]): Promise<LanguageRecord> {
    const backends = await this.deps.backends.look(language);
    const path = this.deps.find(language);
    return {
      backend: backends.find(({ isAllowed, missing }) => isAllowed && missing === null)?.name ?? null,
      backends,
      path,
      version: known.find((one) => one.path === path)?.version ?? null,
    };
  }
}

function standingOf(runs: readonly Language[]): CodeCapability['status'] {
  return runs.length === languages.length ? 'ready' : runs.length > 0 ? 'degraded' : 'absent';
}
