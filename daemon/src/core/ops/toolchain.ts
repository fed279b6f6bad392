/** Lists the interpreters and tools on PATH, in the form of the 1.x interface. */
import { aborted, Deadline } from '../../kit/deadline.ts';
import { decodeUtf8 } from '../../kit/text/text.ts';
import type { Tools } from '../processes/tool.ts';

export interface Interpreter {
  /** Null while the version is not known. */
  readonly version: string | null;
  readonly path: string;
  /** The names of the interpreter on PATH. */
  readonly names: readonly string[];
}

export interface ToolGroup {
  readonly category: string;
  readonly tools: readonly { readonly name: string; readonly path: string }[];
}

export interface Toolchain {
  readonly python: readonly Interpreter[];
  readonly node: readonly Interpreter[];
  readonly tools: readonly ToolGroup[];
}

export interface ToolchainsDeps {
  /** Returns the first executable with this name on PATH at the time of the call. */
  readonly find: (program: string) => string | null;
  /** Changes when the file changes; null when the file does not exist. */
  readonly stampOf: (path: string) => string | null;
  readonly tools: Pick<Tools, 'run'>;
}

const pythonNames = ['python3', 'python', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10'];
const nodeNames = ['node', 'nodejs'];
const toolNames: Readonly<Record<string, readonly string[]>> = {
  shells: ['bash', 'sh', 'zsh', 'tmux'],
  search: ['rg', 'grep', 'find', 'fd', 'jq'],
  network: ['curl', 'wget', 'ssh'],
  sources: ['git', 'gh'],
  build: ['gcc', 'g++', 'make', 'cmake', 'go', 'cargo', 'java'],
  packages: ['pip', 'uv', 'npm', 'pnpm', 'yarn'],
  media: ['ffmpeg'],
};

/** Readiness checks poll this list, so it never waits longer. A late version is in the next answer. */
const versionsWithinMs = 300;
const versionRunMs = 5000;
const versionBytes = 64 * 1024;

type Found = Pick<Interpreter, 'path' | 'names'>;

interface KnownVersion {
  readonly stamp: string | null;
  version: string | null;
  /** True when the program fails or cannot run, for example a shim without an interpreter. */
  isBroken: boolean;
  /** Resolves when the version is known. */
  answered: Promise<void>;
}

export class Toolchains {
  /** One entry for each program, by path. */
  readonly #versions = new Map<string, KnownVersion>();

  constructor(private readonly deps: ToolchainsDeps) {}

  async look(): Promise<Toolchain> {
    const python = this.#find(pythonNames);
    const node = this.#find(nodeNames);
    using deadline = new Deadline(versionsWithinMs);
    const asked = [...python, ...node].map(({ path }) => this.#askVersion(path));
    await Promise.race([Promise.all(asked), aborted(deadline.signal)]);
    const known = (found: readonly Found[]): Interpreter[] =>
      found
        .filter(({ path }) => this.#versions.get(path)?.isBroken !== true)
        .map(({ path, names }) => ({ path, names, version: this.#versions.get(path)?.version ?? null }));
    return { python: known(python), node: known(node), tools: this.#tools() };
  }

  /** The version of a program on PATH. Waits for the program. Null when it does not exist or prints no version. */
  async versionOf(program: string): Promise<string | null> {
    const path = this.deps.find(program);
    if (path === null) return null;
    await this.#askVersion(path);
    return this.#versions.get(path)?.version ?? null;
  }

  #find(names: readonly string[]): Found[] {
    const found = names.map((name) => ({ name, path: this.deps.find(name) })).filter(({ path }) => path !== null);
    const byStamp = Map.groupBy(found, ({ path }) => this.deps.stampOf(path ?? ''));
    return [...byStamp.values()].map((group) => ({
      path: group[0]?.path ?? '',
      names: group.map(({ name }) => name),
    }));
  }

  /** Runs the program once for each version of its file. */
  #askVersion(path: string): Promise<void> {
    const stamp = this.deps.stampOf(path);
    const known = this.#versions.get(path);
    if (known?.stamp === stamp) return known.answered;
    const entry: KnownVersion = { stamp, version: null, isBroken: false, answered: Promise.resolve() };
    this.#versions.set(path, entry);
    entry.answered = this.#runVersion(path, entry);
    return entry.answered;
  }

  async #runVersion(path: string, entry: KnownVersion): Promise<void> {
    const request = { argv: [path, '--version'], withinMs: versionRunMs, limitBytes: versionBytes };
    // No process could be started, so the version is not known yet.
    const outcome = await this.deps.tools.run(request).catch(() => null);
    if (outcome?.kind === 'ended') entry.version = /\d+(?:\.\d+)+/.exec(decodeUtf8(outcome.stdout))?.[0] ?? null;
    entry.isBroken = outcome?.kind === 'failed' || (outcome?.kind === 'ended' && outcome.exitCode !== 0);
    if (outcome === null || outcome.kind === 'too_slow') this.#versions.delete(path); // The next call tries again.
  }

  #tools(): ToolGroup[] {
    const groups = Object.entries(toolNames).map(([category, names]) => ({
      category,
      tools: names.flatMap((name) => {
        const path = this.deps.find(name);
        return path === null ? [] : [{ name, path }];
      }),
    }));
    return groups.filter(({ tools }) => tools.length > 0);
  }
}
