/** Executes the steps of a terminal fuzz and checks their immediate effects. */
import { bytesOf, Mismatch, type Flavour } from './terminal-fuzz-bytes.ts';
import type { FuzzedDaemon } from './terminal-fuzz-daemon.ts';
import type { FuzzedSession } from './terminal-fuzz-session.ts';
import type { CommandStep, PlainStep } from './terminal-fuzz-steps.ts';
import type { FuzzedShell } from './terminal-fuzz-shell.ts';
import { BareSocket, frameOf, opcodes } from './terminal-fuzz-socket.ts';
import { decodeShown } from './terminal-fuzz-viewer.ts';
import type { JsonObject } from './sandbox.ts';
import { until } from './until.ts';

type Wish = Extract<PlainStep, { kind: 'attach' }>['wish'];

/** All previous steps of the session are complete when a step is taken. */
export async function takePlain(daemon: FuzzedDaemon, session: FuzzedSession, step: PlainStep) {
  const viewer = 'index' in step ? session.viewers[step.index % Math.max(1, session.viewers.length)] : undefined;
  switch (step.kind) {
    case 'emit':
      return session.emit(bytesOf(step.flavour, step.bytes, step.seed));
    case 'type':
      return await session.typist.type(typable(step.flavour, step.bytes, step.seed), step.carrier);
    case 'break':
      return await session.typist.breakOff(bytesOf('noise', step.bytes, step.seed));
    case 'attach':
      return await session.attach(wishOf(step.wish, session.shown.bytes.length));
    case 'leave':
      return await session.leave(viewer, step.how);
    case 'stall':
      return await viewer?.stall(step.ms);
    case 'resize':
      return await resize(daemon, session, step);
    case 'malformed':
      return await malformed(daemon, session, step.index);
    case 'refused':
      return await refused(daemon, session.path, step.index);
    case 'look':
      return step.index % 10 === 0
        ? await compareRecording(daemon, session)
        : await look(daemon, session.path, step.index);
    case 'signal':
      await daemon.ask(`POST ${session.path}/signal`, 200, {
        signal: ['SIGWINCH', 'SIGURG', 'SIGCONT'][step.index % 3],
      });
  }
}

export async function takeCommand(daemon: FuzzedDaemon, shell: FuzzedShell, step: CommandStep) {
  switch (step.kind) {
    case 'exec':
      return await shell.run(step.command, step.number);
    case 'watch':
      return await shell.watch(wishOf(step.wish, shell.shown.bytes.length));
    case 'refused':
      return await refused(daemon, shell.path, step.index);
    case 'look':
      return await look(daemon, shell.path, step.index);
  }
}

function wishOf({ back, ...wish }: Wish, end: number) {
  return { ...wish, offset: back === null ? null : Math.max(0, end - back) };
}

/** Text consists of whole characters, because it is sent as text. */
function typable(flavour: Flavour, count: number, seed: number): Buffer {
  const bytes = bytesOf(flavour, count, seed);
  return flavour === 'text' ? Buffer.from(bytes.toString().replaceAll('\uFFFD', '')) : bytes;
}

async function resize(daemon: FuzzedDaemon, session: FuzzedSession, step: Extract<PlainStep, { kind: 'resize' }>) {
  const { cols, rows } = step;
  const viewer = session.viewers.find(({ wish, isOpen }) => isOpen && wish.mode === 'rw');
  if (step.bySocket && viewer) viewer.send({ type: 'resize', cols, rows });
  else await daemon.ask(`PATCH ${session.path}`, 200, { cols, rows });
}

const head = (opcode: number, length: number) => Buffer.from([opcode, 0x80 | length, 0, 0, 0, 0]);

/** Invalid frames and messages, and whether the socket stays open and reports each. */
const wrongs: readonly (readonly [what: Uint8Array, isAnswered: boolean])[] = [
  [frameOf(opcodes.text, '{"type":"nothing"}'), true],
  [frameOf(opcodes.text, '{"type":"resize","cols":0}'), true],
  [frameOf(opcodes.text, '{"type":"resize","rows":10000}'), true],
  [frameOf(opcodes.text, '{"type":"signal","signal":"SIGWHAT"}'), true],
  [frameOf(opcodes.text, '{"type":"input","data":7}'), true],
  [frameOf(opcodes.text, '{"type":"ack","offset":-1}'), true],
  [frameOf(opcodes.text, Buffer.from([0x7b, 0xff, 0xfe])), false],
  [Buffer.concat([head(0x83, 3), Buffer.from('abc')]), false],
  [Buffer.concat([head(0xf1, 3), Buffer.from('abc')]), false],
  [Buffer.from([0x81, 0x03, 0x61, 0x62, 0x63]), false],
  [Buffer.concat([Buffer.from([0x82, 0xff]), Buffer.alloc(8, 0x7f), Buffer.alloc(4)]), false],
  [Buffer.concat([head(0x09, 10), Buffer.alloc(10)]), false],
  [Buffer.concat([head(0x80, 3), Buffer.from('abc')]), false],
  [frameOf(opcodes.close, Buffer.from([0x03, 0xed])), false],
];

/** A malformed frame affects only its sender. */
async function malformed(daemon: FuzzedDaemon, session: FuzzedSession, index: number): Promise<void> {
  const [bytes, isAnswered] = wrongs[index % wrongs.length] ?? wrongs[0]!;
  await daemon.through(async () => {
    const { deaths } = daemon;
    let errors = 0;
    const socket = await BareSocket.open(daemon.url, `${session.path}/ws?durable=false`, (opcode, payload) => {
      if (opcode === opcodes.text && (JSON.parse(payload.toString()) as JsonObject)['type'] === 'error') errors += 1;
    });
    socket.sendBytes(bytes);
    const isOver = () => (isAnswered ? errors === 1 : !socket.isOpen);
    await until('it is answered', () => isOver() || daemon.deaths !== deaths).catch(() => {
      throw new Mismatch(`${Buffer.from(bytes).toString('latin1')}: ${errors} errors, open: ${socket.isOpen}`);
    });
    await socket.drop();
  });
}

const refusals: readonly (readonly [method: string, tail: string, status: number, body?: object])[] = [
  ['PATCH', '', 422, { cols: 0 }],
  ['PATCH', '', 422, { rows: -1 }],
  ['PATCH', '', 422, { cols: 10_000 }],
  ['POST', '/signal', 422, { signal: 'SIGWHAT' }],
  ['POST', '/input', 422, { input: 7 }],
  ['POST', '/exec', 422, { command: '' }],
  ['GET', '/ws', 426],
  ['GET', '/ws?protocol=xml', 426],
  ['GET', '/screen?timeout=-1', 422],
  ['GET', '/screen?wait_for=(', 400],
  ['GET', 'x', 404],
  ['DELETE', 'x', 404],
  ['POST', 'x/input', 404, { input: 'x' }],
  ['POST', 'x/signal', 404, {}],
  ['POST', 'x/exec', 404, { command: 'true' }],
  ['GET', 'x/recording', 404],
];

async function refused(daemon: FuzzedDaemon, path: string, index: number): Promise<void> {
  const [method, tail, status, body] = refusals[index % refusals.length] ?? refusals[0]!;
  const { message, hint } = await daemon.ask(`${method} ${path}${tail}`, status, body);
  if (!message || (status !== 422 && !hint)) throw new Mismatch(`${method} ${path}${tail}: ${message}, ${hint}`);
}

async function look(daemon: FuzzedDaemon, path: string, index: number): Promise<void> {
  await daemon.ask(`GET ${[`${path}/screen`, path, '/v2/pty/sessions'][index % 3]}`, 200);
}

/** Compares the recording with all output so far. Only its last character may be incomplete. */
async function compareRecording(daemon: FuzzedDaemon, session: FuzzedSession): Promise<void> {
  const recording = await daemon.through(async () =>
    (await daemon.sandbox.fetch(`GET ${session.path}/recording`)).text(),
  );
  if (recording === null) return;
  const events = recording
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as [number, string, string]);
  const shown = events.flatMap(([, kind, text]) => (kind === 'o' ? [text] : [])).join('');
  const expected = decodeShown(session.shown.bytes.slice(0));
  const whole = shown.replace(/\uFFFD+$/, '');
  if (expected.startsWith(whole)) return;
  const at = Array.from({ length: whole.length }, (_, n) => n).findIndex((n) => whole[n] !== expected[n]);
  const part = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 10), at + 30));
  throw new Mismatch(`the recording has ${part(whole)} at ${at}, in place of ${part(expected)}`);
}
