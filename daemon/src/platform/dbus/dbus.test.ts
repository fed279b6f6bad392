/** The wire format of D-Bus against bytes of the specification, hostile bytes, and a bus of the system. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DbusClosed, DbusRefusal, DbusUnreachable } from '../../protocols/dbus-errors.ts';
import { socketOf } from './address.ts';
import { connectDbus, type DbusMethod } from './connection.ts';
import { MarshalReader, MarshalWriter, Variant, type DbusValue } from './marshal.ts';
import { MessageReader } from './message.ts';
import { parseSignature } from './signature.ts';

const signal = () => AbortSignal.timeout(30_000);

/** What a promise rejects with; null when it does not. */
function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}

function roundTrip(signature: string, values: readonly DbusValue[]): DbusValue[] {
  const types = parseSignature(signature);
  const writer = new MarshalWriter();
  writer.values(types, values);
  return new MarshalReader(Buffer.from(writer.bytes), true, 0).values(types);
}

test('DESK-A11Y-TREE values of every type survive the wire format', () => {
  const numbers = [200, true, -5, 50_000, -70_000, 4_000_000_000, -5n, 2n ** 63n, 0.25];
  expect(roundTrip('ybnqiuxtd', numbers)).toEqual(numbers);
  const texts: DbusValue[] = ['Zürich 東京 🚉', '/a/b', 'a{sv}', ''];
  expect(roundTrip('sogs', texts)).toEqual(texts);
  const nested: DbusValue[] = [[['a', [1, [2n, 'b']]]], []];
  expect(roundTrip('a(s(y(xs)))a{sv}', nested)).toEqual(nested);
  expect(roundTrip('a{sv}', [[['x', new Variant('(us)', [7, 'y'])]]])).toEqual([[['x', [7, 'y']]]]);
});

test('DESK-A11Y-TREE bytes are laid out as the specification says', () => {
  const writer = new MarshalWriter();
  // "Marshaling", example of the D-Bus specification: "foo", "+", "bar".
  writer.values(parseSignature('sss'), ['foo', '+', 'bar']);
  const expected = '03000000 666f6f00 01000000 2b00 0000 03000000 62617200';
  expect(writer.bytes.toString('hex')).toBe(expected.replaceAll(' ', ''));
  const bigEndian = Buffer.from('0000000000000005400921fb54442d18', 'hex');
  const [value] = new MarshalReader(bigEndian, false, 8).values(parseSignature('d'));
  expect(value).toBe(Math.PI);
});

test('DESK-A11Y-TREE bytes that break the format are refused', () => {
  for (const signature of ['z', '(', '()', 'a', '{s}', '(s', 'a'.repeat(300)]) {
    expect(() => parseSignature(signature)).toThrow(RangeError);
  }
  const long = Buffer.from('ffffff0061', 'hex');
  expect(() => new MarshalReader(long, true, 0).values(parseSignature('s'))).toThrow(RangeError);
  expect(() => new MarshalReader(long, true, 0).values(parseSignature('ay'))).toThrow(RangeError);
  expect(() => [...new MessageReader().push(Buffer.from('HTTP/1.1 400 Bad Request'))]).toThrow(RangeError);
  const huge = Buffer.from('6c020001ffffff7f0100000000000000', 'hex');
  expect(() => [...new MessageReader().push(huge)]).toThrow(RangeError);
});

test('DESK-A11Y-MISSING the socket of an address is read with its escapes', () => {
  expect(socketOf('unix:path=/run/user/1000/bus,guid=1f')).toBe('/run/user/1000/bus');
  expect(socketOf('tcp:host=a;unix:abstract=/tmp/dbus%2dX,guid=1f')).toBe('\0/tmp/dbus-X');
  expect(() => socketOf('tcp:host=localhost,port=1')).toThrow(DbusUnreachable);
});

test('DESK-A11Y-TREE a bus answers thousands of calls in flight, and an error is an error of its call alone', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bus-'));
  const address = `--address=unix:dir=${directory}`;
  const bus = Bun.spawn(['dbus-daemon', '--session', address, '--nofork', '--nopidfile', '--print-address=1'], {
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
  });
  try {
    const { value } = await bus.stdout.getReader().read();
    using connection = await connectDbus(new TextDecoder().decode(value).trim(), signal());
    const object = { bus: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus' };
    const method = <A extends readonly DbusValue[]>(member: string, takes: string, returns: string): DbusMethod<A> => ({
      ...{ interface: 'org.freedesktop.DBus', member, takes, returns },
    });
    const hasOwner = method<[boolean]>('NameHasOwner', 's', 'b');
    const calls = Array.from({ length: 3000 }, (_, index) =>
      connection.call(object, hasOwner, [index % 2 ? 'org.freedesktop.DBus' : 'no.such.name'], signal()),
    );
    const failing = connection.call(object, method('GetNameOwner', 's', 's'), ['no.such.name'], signal());
    const other = connection.call(object, method<[number]>('GetId', '', 'u'), [], signal());
    expect(await failureOf(failing)).toBeInstanceOf(DbusRefusal);
    expect(String(await failureOf(other))).toContain('GetId was answered with s instead of u');
    const answers = await Promise.all(calls);
    expect(answers.every(([isOwned], index) => isOwned === (index % 2 === 1))).toBe(true);
    const waiting = connection.call(object, hasOwner, ['no.such.name'], AbortSignal.abort());
    expect(await failureOf(waiting)).toBeInstanceOf(Error);
    bus.kill('SIGKILL');
    await bus.exited;
    const late = connection.call(object, hasOwner, ['no.such.name'], signal());
    expect(await failureOf(late)).toBeInstanceOf(DbusClosed);
    expect(connection.isOpen).toBe(false);
  } finally {
    bus.kill('SIGKILL');
    await bus.exited;
    rmSync(directory, { recursive: true });
  }
});
