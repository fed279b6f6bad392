/** Code in the cells of sessions, whatever runs it. */

export interface CodeServer extends AsyncDisposable {
  readonly name: string;
  readonly language: CodeLanguage;
  /** The processes that serve all sessions; none where each session is a program of its own. */
  readonly pids: readonly number[];
  /** One that begins with its first cell where the server can do so. */
  openSession(): Promise<CodeSession>;
}

export interface CodeSession extends AsyncDisposable {
  /** Runs a cell to its end, when all of its outputs are there; answers what it has printed. */
  run(code: string): Promise<string>;
}

/** The cells of the bench, in one language. */
export interface CodeLanguage {
  readonly print: (text: string) => string;
  /** Line by line, as a program would. */
  readonly printLines: (line: string, count: number) => string;
  readonly printPid: string;
}

export const python: CodeLanguage = {
  print: (text) => `print(${JSON.stringify(text)})`,
  printLines: (line, count) => `for _ in range(${count}): print(${JSON.stringify(line)})`,
  printPid: 'import os; print(os.getpid())',
};

export const javascript: CodeLanguage = {
  print: (text) => `console.log(${JSON.stringify(text)})`,
  printLines: (line, count) => `for (let i = 0; i < ${count}; i++) console.log(${JSON.stringify(line)})`,
  printPid: 'console.log(process.pid)',
};

/** Milliseconds from the request to the whole answer. Throws where that is another one. */
export async function timeOf(session: CodeSession, code: string, expected: string): Promise<number> {
  const startedMs = performance.now();
  const printed = await session.run(code);
  const tookMs = performance.now() - startedMs;
  if (printed !== expected)
    throw new Error(`a cell has printed ${printed.slice(0, 200)} (${printed.length} characters)`);
  return tookMs;
}
