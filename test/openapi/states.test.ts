/** The states in docs/protocols/states.md are those of the description. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
