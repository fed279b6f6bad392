/** The daemon and the native program use the same protocol numbers, in two languages. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  endCauses,
  failureStages,
  frameHeaderBytes,
  fromKeeper,
  initFrame,
  maxFrameBytes,
  maxSpawnBytes,
  maxOutputBytes,
  outputHeaderBytes,
  initVersion,
  protocolVersion,
  signalScope,
  spawnFlag,
  statusBytes,
  statusFlag,
  toKeeper,
} from './keeper-protocol.ts';

const header = readFileSync(join(import.meta.dirname, '../../../../native/protocol.h'), 'utf8');

/** The value of an enumerator or a macro; products such as `(8u * 1024u)` are evaluated. */
function native(name: string): number {
  const text = new RegExp(`\\b${name}\\b\\s*=?\\s*\\(?([\\du *]+)`).exec(header)?.[1];
  if (text === undefined) throw new Error(`native/protocol.h has no ${name}`);
  return text
    .replaceAll('u', '')
    .split('*')
    .reduce((product, factor) => product * Number(factor), 1);
}

function expectSame(
  prefix: string,
  numbers: Readonly<Record<string, number>>,
  names: Readonly<Record<string, string>> = {},
) {
  for (const [key, value] of Object.entries(numbers)) {
    const name = `${prefix}_${names[key] ?? key.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`;
    expect([name, native(name)]).toEqual([name, value]);
  }
}

test('frame types are the same in both programs', () => {
  expectSame('FRAME', initFrame);
  expectSame('FRAME', toKeeper);
  expectSame('FRAME', fromKeeper, { stdin: 'STDIN_STATE', tree: 'TREE_STATE' });
});

test('flags, scopes, stages and causes are the same in both programs', () => {
  expectSame('SPAWN', spawnFlag);
  expectSame('STATUS', statusFlag);
  expectSame('SCOPE', signalScope);
  expectSame('STAGE', Object.fromEntries(failureStages.map((stage, index) => [stage, index + 1])));
  expectSame('CAUSE', Object.fromEntries(endCauses.map((cause, index) => [cause, index])), { timeout: 'HARD_TIMEOUT' });
});

test('sizes and the version are the same in both programs', () => {
  expect(native('PROTOCOL_VERSION')).toBe(protocolVersion);
  expect(native('INIT_VERSION')).toBe(initVersion);
  expect(native('FRAME_HEADER_BYTES')).toBe(frameHeaderBytes);
  expect(native('FRAME_LIMIT_BYTES')).toBe(maxFrameBytes);
  expect(native('SPAWN_LIMIT_BYTES')).toBe(maxSpawnBytes);
  expect(native('STATUS_BYTES')).toBe(statusBytes);
  expect(native('OUTPUT_HEADER_BYTES')).toBe(outputHeaderBytes);
  expect(native('OUTPUT_LIMIT_BYTES')).toBe(maxOutputBytes);
});
