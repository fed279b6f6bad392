/**
 * Runs the shell blocks of a document as a reader does: in order, in one shell, beside a daemon.
 *
 * Two comments of Markdown, which no reader sees, say what stands before a block: `<!-- not run: reason -->`, and
 * `<!-- prepare: script -->` for what the reader is supposed to have.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programEnvironment } from './closed-ports.ts';
import { clientCommand, expect, repositoryRoot, type Sandbox } from './sandbox.ts';

export interface ShellBlock {
  readonly line: number;
  readonly script: string;
  readonly prepare: string;
  /** Why the block is not run, or null. */
  readonly reason: string | null;
  /** The answer that follows the block, with … for what differs, or null. */
  readonly shown: { readonly language: string; readonly text: string } | null;
}

export function shellBlocksOf(document: string): ShellBlock[] {
  const text = readFileSync(join(repositoryRoot, document), 'utf8');
  const comment = /(?:^<!-- (?<kind>not run|prepare): (?<note>(?:(?!-->)[^])*?) -->\n)?/;
  const script = /^```sh\n(?<script>[^]*?)^```$/;
  const answer = /(?:\n\n```(?<language>json|text)\n(?<shown>[^]*?)^```$)?/;
  const block = new RegExp(comment.source + script.source + answer.source, 'gm');
  return [...text.matchAll(block)].map(({ index, groups = {} }) => ({
    line: text.slice(0, index).split('\n').length,
    script: groups['script'] ?? '',
    prepare: groups['kind'] === 'prepare' ? (groups['note'] ?? '') : '',
    reason: groups['kind'] === 'not run' ? (groups['note'] ?? '') : null,
    shown: groups['shown'] === undefined ? null : { language: groups['language'] ?? '', text: groups['shown'] },
  }));
}

/** Documents name places that a sandbox has; the test has them below its own directory. */
const places = /(?<![\w./$}*])\/(?=(?:tmp|srv|build|etc|usr\/local)(?:[/" ]|$))/gm;
/** Hosts that documents give the daemon. */
const hosts = /\b(?:localhost|box|other|sandbox):18091\b/g;

/** Runs the blocks, and expects the answers that the document shows and no failures. */
export async function runBlocks(document: string, blocks: readonly ShellBlock[], sandbox: Sandbox): Promise<void> {
  const { directory, url } = sandbox;
  const root = join(directory, 'root');
  const bin = join(directory, 'bin');
  for (const folder of ['root/tmp', 'root/srv', 'root/build', 'root/etc', 'bin', 'reader'])
    mkdirSync(join(directory, folder), { recursive: true });
  writeFileSync(join(bin, 'boxkeep'), `#!/bin/sh\nexec ${clientCommand().join(' ')} "$@"\n`);
  chmodSync(join(bin, 'boxkeep'), 0o755);

  const here = (text: string) =>
    text
      .replaceAll(places, `${root}/`)
      .replaceAll(hosts, new URL(url).host)
      .replaceAll('SVC_API_KEY=…', 'SVC_API_KEY=k');
  const scripts = blocks.map(({ prepare, script }, index) => `${prepare}\n${mark(index)}\n${script}`);
  // Each answer of curl ends its line.
  const all = `curl() { command curl -S -w '\\n' "$@"; }\n${scripts.join('\n')}`;
  const shell = Bun.spawn(['sh', '-e', '-c', here(all)], {
    env: programEnvironment({
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: join(directory, 'reader'),
      TMPDIR: join(directory, 'tmp'),
      BOXKEEP_TEST_ID: sandbox.id,
      REPOSITORY: repositoryRoot, // As a variable, because paths in the scripts lead into the directory of the test.
    }),
    cwd: join(directory, 'reader'),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, code] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited]);
  const there = stdout.replaceAll(root, '').replaceAll(new URL(url).host, 'localhost:18091');
  const outputs = there.split(/^-- block \d+\n/m).slice(1);
  const last = blocks[outputs.length - 1];
  expect([`${document}:${last?.line}`, code, code === 0 ? '' : stderr]).toEqual([`${document}:${last?.line}`, 0, '']);
  expect(outputs).toHaveLength(blocks.length);
  blocks.forEach(({ line, shown }, index) => {
    const output = normal(outputs[index] ?? '', shown?.language ?? 'text');
    const answer = shown ? pattern(normal(shown.text, shown.language)) : /$/;
    expect(output).toMatch(answer);
    const failure = /.*"success":false.*/.exec(output.slice(0, answer.exec(output)?.index))?.[0];
    expect([`${document}:${line}`, failure]).toEqual([`${document}:${line}`, undefined]);
  });
}

function mark(index: number): string {
  return `printf '%s\\n' '-- block ${index}'`;
}

/** Without what a person adds to read an answer more easily. An answer in JSON begins a line. */
function normal(text: string, language: string): string {
  if (language !== 'json') return text.replaceAll(/ +/g, ' ').replaceAll(/ $/gm, '').trim();
  return text
    .trim()
    .replaceAll(/("(?:[^"\\]|\\.)*")|\n(?=\{)|\s+/g, (space, word?: string) => word ?? (space === '\n' ? '\n' : ''));
}

/** The last lines are as shown. Ids and pids differ, and … stands for more of a line. */
function pattern(shown: string): RegExp {
  const differs: Readonly<Record<string, string>> = { '…': '.*', cmd: 'cmd_\\w+', '"pi': '"pid":\\d+' };
  const parts = shown.split(/(cmd_\w+|"pid":\d+|…)/);
  const source = parts.map((part, at) => (at % 2 ? differs[part.slice(0, 3)] : RegExp.escape(part))).join('');
  return new RegExp(`(?<=^|\\n)${source}$`);
}
