/** Runs the shell commands of a document against the daemon of a test. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, repositoryRoot, type JsonObject, type Sandbox } from './sandbox.ts';

/** The fenced blocks of a document in one language, in order. */
export function blocksOf(document: string, language: string): string[] {
  const text = readFileSync(join(repositoryRoot, document), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block);
}

const oneLineEach = 'curl() { command curl -S -w \'\\n\' "$@"; }\n';

/** What the script prints, line by line. The script calls the daemon of the test, and prints each answer in a line. */
export async function runScript(script: string, { url, directory }: Sandbox): Promise<JsonObject[]> {
  const adapted = oneLineEach + script.replaceAll('localhost:18091', new URL(url).host);
  const shell = Bun.spawn(['sh', '-e', '-c', adapted], {
    env: { PATH: process.env['PATH'] },
    cwd: directory,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, code] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject);
}
