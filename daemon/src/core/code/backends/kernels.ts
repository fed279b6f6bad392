/** Finds the kernels of an account by asking the Pythons on PATH, and caches the answers. */
import { decodeUtf8 } from '../../../kit/text/text.ts';
import type { PythonAnswer } from '../../../platform/clients/ask-python.ts';
import type { ToolOutcome, ToolRequest } from '../../processes/tool.ts';
import type { Account } from '../../identity/accounts.ts';
import { kernelLanguage, type Language } from '../language.ts';

/** How to start a kernel and communicate with it (docs/protocols/interpreter.md, "Kernels"). */
export interface Kernelspec {
  readonly name: string;
  readonly argv: readonly string[];
  /** The resolved path of the first word of `argv`; null when the program does not exist. */
  readonly program: string | null;
  readonly language: string;
  readonly interruptMode: 'signal' | 'message';
  readonly env: Readonly<Record<string, string>>;
  readonly transport: 'ipc' | 'tcp';
}

export interface UsableKernel {
  readonly spec: Kernelspec;
  /** A Python that has pyzmq, for the bridge. */
  readonly python: string;
}

/** The answer of one Python to the probe. */
interface Answer extends PythonAnswer {
  /** Version of the Python, for example `3.12.1`. */
  readonly version: string;
  readonly kernels: readonly Kernelspec[];
  readonly fingerprint: Readonly<Record<string, string | null>>;
}

interface Known {
  readonly stamp: string | null;
  readonly askedMs: number;
  readonly answer: Promise<Answer | typeof failed | null>;
}

/** The Python ran but failed, for example a version manager's shim. Null means that it could not be run. */
const failed = Symbol('failed');

export interface KernelsDeps {
  readonly tools: { run(request: ToolRequest): Promise<ToolOutcome> };
  /** The command line of the probe for this Python. */
  readonly probe: (python: string) => readonly string[];
  /** Returns the first executable with this name on PATH at the time of the call. */
  readonly find: (program: string) => string | null;
  /** Changes when the file changes; null when the file does not exist. */
  readonly stampOf: (path: string) => string | null;
  /** Modification time in nanoseconds as text; null when the file does not exist. */
  readonly modifiedNs: (path: string) => string | null;
  readonly now: () => number;
}

/** The names that stand for the default Python. */
const defaultPythons = ['python3', 'python'];
const otherPythons = Array.from({ length: 7 }, (_, index) => `python3.${14 - index}`);
export const defaultKernel = 'python3';
const probeWithinMs = 10_000;
const probeBytes = 4 * 1024 * 1024;
/** The same time for which a capability report is reused. */
const failedForMs = 5000;
/** Each account is probed separately, and clients choose the accounts, so the cache needs a limit. */
const maxKnown = 256;

export class Kernels {
  readonly #known = new Map<string, Known>();

  constructor(private readonly deps: KernelsDeps) {}

  /** What is missing for this kernel, by default the default kernel; null when the kernel is usable. */
  async missing(account: Account, name = defaultKernel): Promise<string | null> {
    const found = await this.find(account, name);
    return typeof found === 'string' ? found : null;
  }

  /** Returns the kernel, or one sentence about what is missing for it. */
  async find(account: Account, name: string = defaultKernel): Promise<UsableKernel | string> {
    const usual = await this.#ask(account, defaultPythons);
    const isUsual = usual.some((answer) => has(answer, name));
    const all = isUsual || name === defaultKernel ? usual : [...usual, ...(await this.#ask(account, otherPythons))];
    const named = all
      .flatMap(({ kernels }) => kernels)
      .find((kernel) => kernel.name === name && kernel.program !== null);
    const spec = named ?? ownKernels(all).find((own) => own.name === name)?.spec;
    if (!spec) return this.#lack(all, name);
    const python = await this.#bridgePython(account, all, spec);
    return python === null
      ? `the kernel ${name} is installed, but no Python finds pyzmq: pip install pyzmq`
      : { spec, python };
  }

  /** Names of the usable kernels for a language, default kernel first. */
  async names(account: Account, language: Language): Promise<readonly string[]> {
    const all = await this.#ask(account, [...defaultPythons, ...otherPythons]);
    const usable = all
      .flatMap(({ kernels }) => kernels)
      .filter((kernel) => kernel.program !== null && kernelLanguage(kernel.language) === language);
    const names = [...new Set(usable.map(({ name }) => name))];
    return names.toSorted((a, b) => Number(b === defaultKernel) - Number(a === defaultKernel));
  }

  /** The Pythons that have their own ipykernel, as names like `python3.12`. `find` accepts these names too. */
  async versions(account: Account): Promise<readonly string[]> {
    const own = ownKernels(await this.#ask(account, [...defaultPythons, ...otherPythons]));
    return [...new Set(own.map(({ name }) => name))].toSorted();
  }

  async #bridgePython(account: Account, all: readonly Answer[], { argv, program }: Kernelspec): Promise<string | null> {
    const found = all.find(({ packages }) => packages['zmq'] !== undefined);
    if (found) return found.executable;
    const isPython = argv[0]?.split('/').at(-1)?.startsWith('python') === true;
    const own = isPython && program !== null ? await this.#answerOf(account, program) : null;
    return own?.packages['zmq'] === undefined ? null : own.executable;
  }

  #lack(all: readonly Answer[], name: string): string {
    const [first] = all;
    const broken = all.flatMap(({ kernels }) => kernels).find((kernel) => kernel.name === name);
    if (broken) return `the kernel ${name} needs ${broken.argv[0]}, which is not installed`;
    if (!first) return `no kernel, because ${defaultPythons.join(' and ')} are not on PATH`;
    return `ipykernel is not installed for ${first.executable}: pip install ipykernel`;
  }

  /** Probes the Pythons with these names and returns their answers in order. Two names of one file are probed once. */
  async #ask(account: Account, programs: readonly string[]): Promise<Answer[]> {
    const paths = programs.map(this.deps.find).filter((path) => path !== null);
    // The same file is a different Python in the directory of another environment.
    const keys = paths.map((path) => `${path.slice(0, path.lastIndexOf('/'))} ${this.deps.stampOf(path)}`);
    const different = paths.filter((_, index) => keys.indexOf(keys[index] ?? '') === index);
    const answer = await Promise.all(different.map((path) => this.#answerOf(account, path)));
    return answer.filter((one) => one !== null);
  }

  async #answerOf(account: Account, python: string): Promise<Answer | null> {
    const key = `${account.uid}:${account.gid} ${account.home} ${python}`;
    const stamp = this.deps.stampOf(python);
    const known = this.#known.get(key);
    if (known?.stamp === stamp) {
      const remembered = await known.answer;
      if (remembered === failed && this.deps.now() - known.askedMs < failedForMs) return null;
      if (isAnswer(remembered) && this.#isSame(remembered)) return remembered;
    }
    // Another call may have probed this Python meanwhile.
    const latest = this.#known.get(key);
    const isAsked = latest && latest !== known && latest.stamp === stamp;
    const answer = isAsked ? await latest.answer : await this.#remember(key, stamp, this.#run(account, python));
    return isAnswer(answer) ? answer : null;
  }

  async #remember(key: string, stamp: string | null, answer: Known['answer']): Known['answer'] {
    const known: Known = { stamp, answer, askedMs: this.deps.now() };
    this.#known.delete(key);
    this.#known.set(key, known);
    for (const oldest of [...this.#known.keys()].slice(0, -maxKnown)) this.#known.delete(oldest);
    // A Python that could not be run is probed again, because the cause may be a temporary state of the machine.
    if ((await answer) === null && this.#known.get(key) === known) this.#known.delete(key);
    return await answer;
  }

  #isSame({ fingerprint }: Answer): boolean {
    return Object.entries(fingerprint).every(([path, time]) => this.deps.modifiedNs(path) === time);
  }

  async #run(account: Account, python: string): Known['answer'] {
    const request = { argv: this.deps.probe(python), account, withinMs: probeWithinMs, limitBytes: probeBytes };
    const outcome = await this.deps.tools.run(request).catch(() => null); // No process could be started now.
    if (outcome?.kind !== 'ended') return null;
    return outcome.exitCode === 0 ? readAnswer(decodeUtf8(outcome.stdout)) : failed;
  }
}

function isAnswer(answer: Awaited<Known['answer']>): answer is Answer {
  return answer !== null && answer !== failed;
}

/** Maps kernels to the version of their Python, regardless of the kernel's name. */
function ownKernels(all: readonly Answer[]): { readonly name: string; readonly spec: Kernelspec }[] {
  return all.flatMap(({ executable, kernels, version }) => {
    const spec = kernels.find(({ language, program }) => language === 'python' && program === executable);
    const [, minor] = /^(3\.\d+)\./.exec(version) ?? [];
    return spec && minor !== undefined ? [{ name: `python${minor}`, spec }] : [];
  });
}

function has({ kernels }: Answer, name: string): boolean {
  return kernels.some((kernel) => kernel.name === name && kernel.program !== null);
}

/** The output format of the probe. The probe belongs to the daemon, but any program named python3 may run it. */
interface Spelled extends Omit<Answer, 'kernels'> {
  readonly kernels: readonly (Omit<Kernelspec, 'interruptMode'> & { readonly interrupt_mode: string })[];
}

function readAnswer(text: string): Answer | typeof failed {
  try {
    const { kernels, ...rest } = JSON.parse(text) as Spelled;
    const specs = kernels.map(({ interrupt_mode: mode, ...spec }) => ({
      ...spec,
      interruptMode: mode === 'message' ? ('message' as const) : ('signal' as const),
    }));
    return { ...rest, kernels: specs };
  } catch {
    return failed; // Some other program has the name of a Python.
  }
}
