/** Runs code in the cells of sessions, independent of the server. */

export interface CodeServer extends AsyncDisposable {
  readonly name: string;
  readonly language: CodeLanguage;
  /** The processes that serve all sessions. Empty where each session is a program of its own. */
  readonly pids: readonly number[];
  /** The session begins with its first cell where the server can do so. */
  openSession(): Promise<CodeSession>;
}

export interface CodeSession extends AsyncDisposable {
  /** Runs a cell until it has ended and all its output has arrived. Returns the printed text. */
  run(code: string): Promise<string>;
}

/** The cells of the bench in one language. */
export interface CodeLanguage {
  readonly print: (text: string) => string;
  /** Prints line by line, as a program would. */
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

/** Milliseconds from the request to the whole answer. Throws if the answer differs from `expected`. */
export async function timeOf(session: CodeSession, code: string, expected: string): Promise<number> {
  const startedMs = performance.now();
  const printed = await session.run(code);
  const tookMs = performance.now() - startedMs;
  if (printed !== expected)
    throw new Error(`a cell has printed ${printed.slice(0, 200)} (${printed.length} characters)`);
  return tookMs;
}
