/** A change of spec/v2.json that breaks clients is found, and is in test/contract/breaking.json where it is on purpose. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { breakingChanges } from '../harness/breaking-changes.ts';
import type { ApiDocument } from '../harness/described-fields.ts';
import type { Schema } from '../harness/schema-differences.ts';
import { repositoryRoot } from '../harness/sandbox.ts';

const path = 'spec/v2.json';
const read = (name: string): string => readFileSync(join(repositoryRoot, name), 'utf8');

function git(...args: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['git', ...args], { cwd: repositoryRoot });
  if (exitCode !== 0) throw new Error(`this test needs git and the history of the repository: ${stderr.toString()}`);
  return stdout.toString();
}

/** The newest committed version that differs from the one in the tree. */
function before(): ApiDocument {
  const current = read(path);
  const revisions = git('log', '-n', '2', '--format=%H', '--', path).trim().split('\n');
  const versions = revisions.map((revision) => git('show', `${revision}:${path}`));
  return JSON.parse(versions.find((version) => version !== current) ?? current) as ApiDocument;
}

test('VER-BREAKING the description breaks no client of the version before, except on purpose', () => {
  const onPurpose = JSON.parse(read('test/contract/breaking.json')) as Readonly<Record<string, string>>;
  const found = breakingChanges(before(), JSON.parse(read(path)) as ApiDocument);
  expect(found.filter((change) => !(change in onPurpose))).toEqual([]);
});

const text: Schema = { type: 'string' };
const object = (properties: Record<string, Schema>, required: readonly string[] = []): Schema => {
  return { type: 'object', properties, required };
};

function described(body: Schema, answer: Schema): ApiDocument {
  const content = (schema: Schema) => ({ 'application/json': { schema } });
  const responses = { 200: { content: content(answer) } };
  const post = { requestBody: { required: true, content: content(body) }, responses };
  return { paths: { '/a': { post } }, components: { schemas: {} } };
}

test('VER-BREAKING what breaks a client is told from what does not', () => {
  const either: Schema = { enum: ['x', 'y'] };
  const old = described(object({ a: text, b: either }, ['a']), object({ c: text, d: either }, ['c', 'd']));
  const changed = (body: Schema, answer: Schema) => breakingChanges(old, described(body, answer));
  const [body, answer] = [object({ a: text, b: either }, ['a']), object({ c: text, d: either }, ['c', 'd'])];

  expect(changed(object({ a: text, b: text, e: text }), object({ c: text, d: either, f: text }, ['c', 'd']))).toEqual(
    [],
  );
  expect(changed(object({ b: either }), answer)).toEqual(['POST /a body.a is gone']);
  expect(changed(object({ a: text, b: either }, ['a', 'b']), answer)).toEqual(['POST /a body.b is required now']);
  expect(changed(object({ a: text, b: { enum: ['x'] } }, ['a']), answer)).toEqual(['POST /a body.b was x|y, and is x']);
  expect(changed(body, object({ c: text, d: either }, ['c']))).toEqual(['POST /a answer.d may be left out now']);
  expect(changed(body, object({ d: either }, ['d']))).toEqual(['POST /a answer.c is gone']);
  expect(changed(body, object({ c: { type: 'integer' }, d: either }, ['c', 'd']))).toEqual([
    'POST /a answer.c was string, and is integer',
  ]);
  expect(breakingChanges(old, { ...old, paths: {} })).toEqual(['POST /a is gone']);
});
