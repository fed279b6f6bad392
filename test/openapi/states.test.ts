/** The states in docs/protocols/states.md and the frames in terminal.md are those of the description. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFrames } from '../harness/described-frames.ts';
import { repositoryRoot } from '../harness/sandbox.ts';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');

interface Field {
  readonly enum?: readonly string[];
  readonly const?: string;
}

const { components } = JSON.parse(read('spec/v2.json')) as { components: { schemas: Record<string, unknown> } };

function statesOf(schema: string, field: string): readonly string[] {
  const { properties } = components.schemas[schema] as { properties: Readonly<Record<string, Field>> };
  const { enum: values, const: value } = properties[field] ?? {};
  return values ?? [value ?? 'none'];
}

/** A heading of the page, and the field that it describes. */
const described: readonly (readonly [heading: string, schema: string, field: string])[] = [
  ['Command', 'CommandResult', 'status'],
  ['Command session', 'CommandSession', 'status'],
  ['Terminal', 'TerminalSession', 'status'],
  ['Watcher', 'Watcher', 'status'],
  ['Code session', 'CodeSession', 'state'],
  ['Recording', 'DesktopRecording', 'status'],
];

test('VER-STATES each state of the description has a row, and no other state has one', () => {
  const sections = new Map(
    read('docs/protocols/states.md')
      .split('\n## ')
      .map((section): [string, string] => [section.split('\n', 1)[0] ?? '', section]),
  );
  for (const [heading, schema, field] of described) {
    const rows = Array.from((sections.get(heading) ?? '').matchAll(/^\| `(\w+)` \|/gm), ([, state = '']) => state);
    expect([heading, rows]).toEqual([heading, [...statesOf(schema, field)]]);
  }
});

test('VER-FRAMES each frame of a terminal has a row, with its fields', () => {
  const page = read('docs/protocols/terminal.md');
  for (const [side, heading] of [
    ['Server', 'from the daemon'],
    ['Client', 'from the client'],
  ] as const) {
    const [table = ''] = (page.split(`| ${heading} |`)[1] ?? '').split('\n\n', 1);
    const rows = Array.from(table.matchAll(/\{type: "(\w+)"((?:, \w+)*)/g), ([, type = '', names = '']) => {
      return [type, names.split(', ').slice(1).toSorted()] as const;
    });
    const described = Array.from(readFrames(side), ([type, { properties }]) => {
      return [
        type,
        Object.keys(properties)
          .filter((name) => name !== 'type')
          .toSorted(),
      ] as const;
    });
    expect([side, rows]).toEqual([side, described]);
  }
});
