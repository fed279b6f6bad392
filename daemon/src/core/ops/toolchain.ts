/** The interpreters and tools on PATH, as the 1.x interface lists them. */
import { Deadline } from '../../kit/deadline.ts';
import { decodeUtf8 } from '../../kit/text.ts';
import type { ToolRunner } from './packages.ts';

export interface Interpreter {
  /** Null while it is not known. */
  readonly version: string | null;
  readonly path: string;
  /** The names it has on PATH. */
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
  /** The first executable of that name on PATH, now. */
  readonly find: (program: string) => string | null;
  /** Changes when the file does; null when it is gone. */
  readonly stampOf: (path: string) => string | null;
  readonly tools: ToolRunner;
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

/** A readiness check polls this: an answer never waits longer, and a version that comes later is there the next time. */
const versionsWithinMs = 300;
const versionRunMs = 5000;
const versionBytes = 64 * 1024;

interface Found {
  readonly path: string;
  readonly names: readonly string[];
}

interface KnownVersion {
  readonly stamp: string | null;
  version: string | null;
  /** It answers with an error, or cannot be run: a name without an interpreter behind it. */
  isBroken: boolean;
  /** Resolves when the rest is known. */
  told: Promise<void>;
}

export class Toolchains {
  /** One entry for each program that was asked. */
  readonly #versions = new Map<string, KnownVersion>();

  constructor(private readonly deps: ToolchainsDeps) {}

  async look(): Promise<Toolchain> {
    const python = this.#find(pythonNames);
    const node = this.#find(nodeNames);
    using deadline = new Deadline(versionsWithinMs);
    const late = new Promise<void>((resolve) =>
      deadline.signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    const asked = [...python, ...node].map(({ path }) => this.#askVersion(path));
    await Promise.race([Promise.all(asked), late]);
    const known = (found: readonly Found[]): Interpreter[] =>
      found
        .filter(({ path }) => this.#versions.get(path)?.isBroken !== true)
        .map(({ path, names }) => ({ path, names, version: this.#versions.get(path)?.version ?? null }));
    return { python: known(python), node: known(node), tools: this.#tools() };
  }

  /** Of a program on PATH, which is waited for; null when it is not there, or does not tell. */
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

  /** Asks the program once for each version of its file. */
  #askVersion(path: string): Promise<void> {
    const stamp = this.deps.stampOf(path);
    const known = this.#versions.get(path);
    if (known?.stamp === stamp) return known.told;
    const entry: KnownVersion = { stamp, version: null, isBroken: false, told: Promise.resolve() };
    this.#versions.set(path, entry);
    entry.told = this.#tellVersion(path, entry);
    return entry.told;
  }

  async #tellVersion(path: string, entry: KnownVersion): Promise<void> {
    const request = { argv: [path, '--version'], withinMs: versionRunMs, limitBytes: versionBytes };
    const outcome = await this.deps.tools.run(request).catch(() => null); // No process to be had is "not known yet".
    if (outcome?.kind === 'ended') entry.version = /\d+(?:\.\d+)+/.exec(decodeUtf8(outcome.stdout))?.[0] ?? null;
    entry.isBroken = outcome?.kind === 'failed' || (outcome?.kind === 'ended' && outcome.exitCode !== 0);
    if (outcome === null || outcome.kind === 'too_slow') this.#versions.delete(path); // The next look asks again.
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
