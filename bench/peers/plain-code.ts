/** Runs the interpreter without a server: one program per cell, or cells fed through a pipe. */
import type { Limit } from '../limit.ts';
import { javascript, python, type CodeLanguage, type CodeServer, type CodeSession } from './code.ts';

interface Interpreter {
  readonly program: string;
  readonly language: CodeLanguage;
  /** Arguments before a program that is passed as an argument. */
  readonly once: readonly string[];
  /** Arguments to read code from standard input, without printing prompts or values. */
  readonly fed: readonly string[];
  /** Flushes the printed output. */
  readonly flush: string;
}

const quietRepl = "require('repl').start({prompt: '', terminal: false, ignoreUndefined: true})";

const interpreters: readonly Interpreter[] = [
  { program: 'python3', language: python, once: ['-c'], fed: ['-i', '-q'], flush: 'import sys; sys.stdout.flush()' },
  { program: 'node', language: javascript, once: ['-e'], fed: ['-e', quietRepl], flush: '' },
];

export function plainInterpreters(limit: Limit | null, path: string, kind: 'once' | 'fed'): CodeServer[] {
  return interpreters.map(({ program, language, flush, [kind]: flags }) => {
    const command = [...(limit?.enter ?? []), Bun.which(program, { PATH: path }) ?? program, ...flags];
    return {
      name: `plain ${program}`,
      language,
      pids: [],
      openSession: () =>
        Promise.resolve(
          kind === 'once' ? new OneProgram(command) : new Fed(command, `${language.print(end)}\n${flush}`),
        ),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  });
}

class OneProgram implements CodeSession {
  constructor(private readonly command: readonly string[]) {}

  async run(code: string): Promise<string> {
    const child = Bun.spawn([...this.command, code], { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' });
    return await child.stdout.text();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

/** After each cell the interpreter prints this line, which marks the end. */
const end = '-- end of the cell --';

class Fed implements CodeSession {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'ignore'>;
  readonly #output: AsyncIterator<Uint8Array>;

  constructor(
    command: readonly string[],
    private readonly tellEnd: string,
  ) {
    // Python writes its prompts to standard error.
    this.#child = Bun.spawn([...command], { stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' });
    this.#output = this.#child.stdout[Symbol.asyncIterator]();
  }

  async run(code: string): Promise<string> {
    // The empty line ends a block.
    await this.#child.stdin.write(`${code}\n\n${this.tellEnd}\n`);
    await this.#child.stdin.flush();
    const decoder = new TextDecoder();
    const pieces: string[] = [];
    for (let tail = ''; !tail.endsWith(`${end}\n`);) {
      const { value, done } = await this.#output.next();
      if (done) throw new Error(`the interpreter ended in a cell: ${tail}`);
      const piece = decoder.decode(value, { stream: true });
      pieces.push(piece);
      tail = (tail + piece).slice(-2 * end.length);
    }
    return pieces.join('').slice(0, -end.length - 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#child.exited;
  }
}
