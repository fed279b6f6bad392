/** Which kernels an account has: asked of the Pythons on PATH, and remembered as long as nothing was installed. */
import { decodeUtf8 } from '../../kit/text.ts';
import type { ToolOutcome, ToolRequest } from '../capabilities/tool-run.ts';
import type { Account } from '../identity/accounts.ts';
import { kernelLanguage, type Language } from './language.ts';

/** How a kernel is started and spoken to (docs/protocols/interpreter.md, "Kernels"). */
export interface Kernelspec {
  readonly name: string;
  readonly argv: readonly string[];
  /** What `argv` begins with, looked up; null when it is not there. */
  readonly program: string | null;
  readonly language: string;
  readonly interruptMode: 'signal' | 'message';
  readonly env: Readonly<Record<string, string>>;
  readonly transport: 'ipc' | 'tcp';
}

export interface UsableKernel {
  readonly spec: Kernelspec;
  /** A Python that finds pyzmq, for the bridge. */
  readonly python: string;
}

/** What one Python has told. */
interface Told {
  /** Of Python: `3.12.1`. */
  readonly version: string;
  readonly executable: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly kernels: readonly Kernelspec[];
  readonly fingerprint: Readonly<Record<string, string | null>>;
}

interface Known {
  readonly stamp: string | null;
  readonly askedMs: number;
  readonly told: Promise<Told | typeof failed | null>;
}

/** It was run and ended with a failure, as a version that is not chosen does; null is a Python that could not be run. */
const failed = Symbol('failed');

export interface KernelsDeps {
  readonly tools: { run(request: ToolRequest): Promise<ToolOutcome> };
  /** The command of the probe, for this Python. */
  readonly probe: (python: string) => readonly string[];
  /** The first executable of that name on PATH, now. */
  readonly find: (program: string) => string | null;
  /** Changes when the file does; null when it is gone. */
  readonly stampOf: (path: string) => string | null;
  /** When it was changed last, in nanoseconds as text; null when it is not there. */
  readonly modifiedNs: (path: string) => string | null;
  readonly now: () => number;
}

/** What an account means by Python when it says no more. */
const defaultPythons = ['python3', 'python'];
const otherPythons = Array.from({ length: 7 }, (_, index) => `python3.${14 - index}`);
export const defaultKernel = 'python3';
const probeWithinMs = 10_000;
const probeBytes = 4 * 1024 * 1024;
/** As long as an answer on capabilities is given again. */
const failedForMs = 5000;
/** Each account asks for itself, and accounts are as many as a client says. */
const mostKnown = 256;

export class Kernels {
  readonly #known = new Map<string, Known>();

  constructor(private readonly deps: KernelsDeps) {}

  /** What is missing for the default kernel, or for this one; null when it can be used. */
  async missing(account: Account, name = defaultKernel): Promise<string | null> {
    const found = await this.find(account, name);
    return typeof found === 'string' ? found : null;
  }

  /** The kernel, or what is missing for it, in one sentence. */
  async find(account: Account, name: string = defaultKernel): Promise<UsableKernel | string> {
    const usual = await this.#ask(account, defaultPythons);
    const isUsual = usual.some((told) => has(told, name));
    const all = isUsual || name === defaultKernel ? usual : [...usual, ...(await this.#ask(account, otherPythons))];
    const named = all
      .flatMap(({ kernels }) => kernels)
      .find((kernel) => kernel.name === name && kernel.program !== null);
    const spec = named ?? ownKernels(all).find((own) => own.name === name)?.spec;
    if (!spec) return this.#lack(all, name);
    const python = await this.#bridgePython(account, all, spec);
    return python === null
      ? `the kernel ${name} is there, but no Python finds pyzmq: pip install pyzmq`
      : { spec, python };
  }

  /** The names of those of a language that can be started, the default one first. */
  async names(account: Account, language: Language): Promise<readonly string[]> {
    const all = await this.#ask(account, [...defaultPythons, ...otherPythons]);
    const usable = all
      .flatMap(({ kernels }) => kernels)
      .filter((kernel) => kernel.program !== null && kernelLanguage(kernel.language) === language);
    const names = [...new Set(usable.map(({ name }) => name))];
    return names.toSorted((a, b) => Number(b === defaultKernel) - Number(a === defaultKernel));
  }

  /** The Pythons that have an ipykernel of their own, as `python3.12`: `find` takes these names too. */
  async versions(account: Account): Promise<readonly string[]> {
    const own = ownKernels(await this.#ask(account, [...defaultPythons, ...otherPythons]));
    return [...new Set(own.map(({ name }) => name))].toSorted();
  }

  async #bridgePython(account: Account, all: readonly Told[], { argv, program }: Kernelspec): Promise<string | null> {
    const found = all.find(({ packages }) => packages['zmq'] !== undefined);
    if (found) return found.executable;
    const isPython = argv[0]?.split('/').at(-1)?.startsWith('python') === true;
    const own = isPython && program !== null ? await this.#told(account, program) : null;
    return own?.packages['zmq'] === undefined ? null : own.executable;
  }

  #lack(all: readonly Told[], name: string): string {
    const [first] = all;
    const broken = all.flatMap(({ kernels }) => kernels).find((kernel) => kernel.name === name);
    if (broken) return `the kernel ${name} needs ${broken.argv[0]}, which is not there`;
    if (!first) return `no kernel, because ${defaultPythons.join(' and ')} are not on PATH`;
    return `ipykernel is not installed for ${first.executable}: pip install ipykernel`;
  }

  /** What those of these names tell, in their order; two names of one file are asked once. */
  async #ask(account: Account, programs: readonly string[]): Promise<Told[]> {
    const paths = programs.map(this.deps.find).filter((path) => path !== null);
    // The same file is another Python where it lies in another environment.
    const keys = paths.map((path) => `${path.slice(0, path.lastIndexOf('/'))} ${this.deps.stampOf(path)}`);
    const different = paths.filter((_, index) => keys.indexOf(keys[index] ?? '') === index);
    const told = await Promise.all(different.map((path) => this.#told(account, path)));
    return told.filter((one) => one !== null);
  }

  async #told(account: Account, python: string): Promise<Told | null> {
    const key = `${account.uid}:${account.gid} ${account.home} ${python}`;
    const stamp = this.deps.stampOf(python);
    const known = this.#known.get(key);
    if (known?.stamp === stamp) {
      const remembered = await known.told;
      if (remembered === failed && this.deps.now() - known.askedMs < failedForMs) return null;
      if (isTold(remembered) && this.#isSame(remembered)) return remembered;
    }
    // Somebody else may have asked again meanwhile.
    const latest = this.#known.get(key);
    const isAsked = latest && latest !== known && latest.stamp === stamp;
    const told = isAsked ? await latest.told : await this.#remember(key, stamp, this.#run(account, python));
    return isTold(told) ? told : null;
  }

  async #remember(key: string, stamp: string | null, told: Known['told']): Known['told'] {
    const known: Known = { stamp, told, askedMs: this.deps.now() };
    this.#known.delete(key);
    this.#known.set(key, known);
    for (const oldest of [...this.#known.keys()].slice(0, -mostKnown)) this.#known.delete(oldest);
    // A Python that could not be run is asked again: it may have been the machine.
    if ((await told) === null && this.#known.get(key) === known) this.#known.delete(key);
    return await told;
  }

  #isSame({ fingerprint }: Told): boolean {
    return Object.entries(fingerprint).every(([path, time]) => this.deps.modifiedNs(path) === time);
  }

  async #run(account: Account, python: string): Known['told'] {
    const request = { argv: this.deps.probe(python), account, withinMs: probeWithinMs, limitBytes: probeBytes };
    const outcome = await this.deps.tools.run(request).catch(() => null); // No process to be had now.
    if (outcome?.kind !== 'ended') return null;
    return outcome.exitCode === 0 ? readTold(decodeUtf8(outcome.stdout)) : failed;
  }
}

function isTold(told: Awaited<Known['told']>): told is Told {
  return told !== null && told !== failed;
}

/** By the version of their Python, whatever they are called. */
function ownKernels(all: readonly Told[]): { readonly name: string; readonly spec: Kernelspec }[] {
  return all.flatMap(({ executable, kernels, version }) => {
    const spec = kernels.find(({ language, program }) => language === 'python' && program === executable);
    const [, minor] = /^(3\.\d+)\./.exec(version) ?? [];
    return spec && minor !== undefined ? [{ name: `python${minor}`, spec }] : [];
  });
}

function has({ kernels }: Told, name: string): boolean {
  return kernels.some((kernel) => kernel.name === name && kernel.program !== null);
}

/** As the probe spells it: it is ours, and what runs it may be anything that is called python3. */
interface Spelled extends Omit<Told, 'kernels'> {
  readonly kernels: readonly (Omit<Kernelspec, 'interruptMode'> & { readonly interrupt_mode: string })[];
}

function readTold(text: string): Told | typeof failed {
  try {
    const { kernels, ...rest } = JSON.parse(text) as Spelled;
    const specs = kernels.map(({ interrupt_mode: mode, ...spec }) => ({
      ...spec,
      interruptMode: mode === 'message' ? ('message' as const) : ('signal' as const),
    }));
    return { ...rest, kernels: specs };
  } catch {
    return failed; // Something else is called so.
  }
}
