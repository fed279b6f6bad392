/** Films of a display: made through the worker, through the daemon and by 1.x clients, and playable wherever they end. */
import { afterAll, beforeAll, expect as plainExpect } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { TestDisplay } from '../harness/display.ts';
import { hangMs } from '../harness/fair-clock.ts';
import { fillFileSystem } from '../harness/full-disk.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, programTest, readProcess, test, type JsonObject } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

let display: TestDisplay;
let worker: ComputerWorker;
let directory: string;

beforeAll(async () => {
  needPrograms('ffmpeg', 'ffprobe', 'Xvfb');
  directory = mkdtempSync(join(tmpdir(), 'boxkeep-films-'));
  display = await TestDisplay.start({ width: 640, height: 480 });
  worker = await ComputerWorker.start({ env: display.environment });
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await display[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

interface Film {
  readonly codec_name: string;
  readonly width: number;
  readonly height: number;
  readonly r_frame_rate: string;
  readonly frames: number;
}

/** What ffprobe reads; throws when a frame cannot be decoded. */
function probe(path: string): Film {
  const asked = ['-v', 'error', '-count_frames', '-show_streams', '-of', 'json', path];
  const { stdout, stderr, status } = spawnSync('ffprobe', asked, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  const [stream] = (JSON.parse(stdout) as { streams: (Film & { nb_read_frames: string })[] }).streams;
  if (!stream) throw new Error(`${path} has no stream`);
  return { ...stream, frames: Number(stream.nb_read_frames) };
}

/** The encoders of a display. */
function encoders(name: string): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      const words = readProcess(pid, 'cmdline').split('\0');
      return words[0]?.endsWith('/ffmpeg') === true && words.includes(name);
    })
    .map(Number);
}

/** Resolves when the film has this many bytes more than its beginning. */
async function grows(state: () => Promise<JsonObject>): Promise<void> {
  const start = (await state())['file_size_bytes'] as number;
  await until('the film grows', async () => ((await state())['file_size_bytes'] as number) > start);
}

test(
  'DESK-2 a recording is started, read and stopped through the daemon, one at a time, and is playable',
  async ({ sandbox }) => {
    const path = join(directory, 'new', 'film.mp4');
    const record = (body: object) => sandbox.request('POST /v2/computer/record', body);
    expect((await record({ action: 'status' })).body.data).toEqual({
      ...{ status: 'idle', duration: 0, save_path: null, file_size_bytes: null, playable: null, error: null },
    });
    const started = await record({ action: 'start', save_path: path, fps: 10 });
    expect([started.status, started.body.data]).toMatchObject([200, { status: 'recording', save_path: path }]);
    const second = await record({ action: 'start', save_path: join(directory, 'second.mp4') });
    expect([second.status, second.body]).toMatchObject([
      409,
      { success: false, hint: expect.stringContaining('POST /v2/computer/record') },
    ]);
    expect(existsSync(join(directory, 'second.mp4'))).toBe(false);
    await grows(() => sandbox.ok('POST /v2/computer/record', { action: 'status' }));
    const { data } = (await record({ action: 'stop' })).body;
    expect(data).toMatchObject({ status: 'stopped', save_path: path, file_size_bytes: Bun.file(path).size });
    expect(data).toMatchObject({ playable: true, error: null });
    expect(data['duration']).toBeGreaterThan(1);
    expect(encoders(display.name)).toEqual([]);
    const film = probe(path);
    expect(film).toMatchObject({ codec_name: 'h264', width: 640, height: 480, r_frame_rate: '10/1' });
    expect(film.frames).toBeGreaterThanOrEqual(10);
    expect((await record({ action: 'stop' })).body.data).toEqual(data);
  },
  { env: () => worker.environment },
);

test(
  'DESK-4 1.x clients record with their own defaults, into a directory for films',
  async ({ sandbox }) => {
    const film = await sandbox.ok('POST /v1/display/record', { action: 'start', width: null, save_path: null });
    const path = String(film['save_path']);
    expect([film['status'], path]).toEqual([
      'recording',
      expect.stringMatching(/^\/tmp\/recordings\/recording_\d{8}_\d{6}\.mp4$/),
    ]);
    try {
      await grows(() => sandbox.ok('POST /v1/display/record', { action: 'status' }));
      expect(await sandbox.ok('POST /v1/display/record', { action: 'stop' })).toMatchObject({ status: 'stopped' });
      expect(probe(path).r_frame_rate).toBe('5/1');
    } finally {
      rmSync(path, { force: true });
      if (readdirSync('/tmp/recordings').length === 0) rmSync('/tmp/recordings', { recursive: true });
    }
  },
  { env: () => worker.environment },
);

programTest(
  'DESK-FILM a film ends by itself after its time, in the asked size with even sides',
  async () => {
    const path = join(directory, 'short.mp4');
    const size = { width: 321, height: 200 };
    await worker.ok('POST /v2/computer/record', { action: 'start', save_path: path, max_duration: 1, fps: 5, ...size });
    const state = () => worker.ok('POST /v2/computer/record', { action: 'status' });
    await until('the film has ended', async () => (await state())['status'] === 'stopped');
    plainExpect(await state()).toMatchObject({ playable: true, error: null });
    const film = probe(path);
    plainExpect(film).toMatchObject({ width: 320, height: 200 });
    plainExpect(film.frames).toBeWithin(3, 8);
  },
  hangMs,
);

programTest(
  'DESK-FILM a film is playable after its worker was killed, and its encoder ends',
  async () => {
    await using doomed = await ComputerWorker.start({ env: display.environment });
    const path = join(directory, 'killed.mp4');
    await doomed.ok('POST /v2/computer/record', { action: 'start', save_path: path, fps: 10 });
    await grows(() => doomed.ok('POST /v2/computer/record', { action: 'status' }));
    await doomed.end('SIGKILL');
    await until('the encoder has ended', () => encoders(display.name).length === 0);
    plainExpect(probe(path).frames).toBeGreaterThanOrEqual(10);
  },
  hangMs,
);

programTest(
  'DESK-FILM a film is whole after SIGTERM to its worker',
  async () => {
    await using leaving = await ComputerWorker.start({ env: display.environment });
    const path = join(directory, 'closed.mp4');
    await leaving.ok('POST /v2/computer/record', { action: 'start', save_path: path, fps: 10 });
    plainExpect(await leaving.end('SIGTERM')).toBe(0);
    plainExpect(encoders(display.name)).toEqual([]);
    plainExpect(probe(path).codec_name).toBe('h264');
  },
  hangMs,
);

/** A worker of the display for which the directory is a file system of its own. */
function onDisk(disk: string, size: string): Promise<ComputerWorker> {
  mkdirSync(disk);
  const mount = `mount -t tmpfs -o size=${size} tmpfs ${disk} && exec "$@"`;
  return ComputerWorker.start({
    env: display.environment,
    launcher: ['unshare', '--mount', 'sh', '-c', mount, 'sh'],
  });
}

const roomHint = 'Free space, or record to another file system.';

programTest(
  'DESK-FILM a film is playable after its disk filled up, and the answers say why it ended',
  async () => {
    const disk = join(directory, 'disk');
    await using confined = await onDisk(disk, '1m');
    const inside = (name: string) => `/proc/${confined.pid}/root${join(disk, name)}`;
    await confined.ok('POST /v2/computer/record', { action: 'start', save_path: join(disk, 'film.mp4'), fps: 10 });
    const state = () => confined.ok('POST /v2/computer/record', { action: 'status' });
    await grows(state);
    fillFileSystem(inside('filler'));
    await until('the film has ended', async () => (await state())['status'] === 'stopped');
    plainExpect((await state())['file_size_bytes']).toBe(readFileSync(inside('film.mp4')).length);
    plainExpect(probe(inside('film.mp4')).frames).toBeGreaterThanOrEqual(10);
    const reason = `${join(disk, 'film.mp4')}: no space left on device`;
    for (const action of ['stop', 'status']) {
      const { body } = await confined.request('POST /v2/computer/record', { action });
      plainExpect(body).toMatchObject({ message: `The film ended early: ${reason}`, hint: roomHint });
      plainExpect(body.data).toMatchObject({ status: 'stopped', playable: true, error: reason });
    }
    const refused = await confined.request('POST /v2/computer/record', {
      ...{ action: 'start', save_path: join(disk, 'next.mp4') },
    });
    plainExpect([refused.status, refused.body.hint]).toEqual([507, roomHint]);
    plainExpect(existsSync(inside('next.mp4'))).toBe(false);
  },
  hangMs,
);

programTest(
  'DESK-FILM a film whose disk has no room for its first second is reported as not playable',
  async () => {
    const disk = join(directory, 'small-disk');
    await using confined = await onDisk(disk, '4k');
    const path = join(disk, 'film.mp4');
    const size = { width: 3840, height: 2160 };
    await confined.ok('POST /v2/computer/record', { action: 'start', save_path: path, fps: 2, ...size });
    const state = () => confined.ok('POST /v2/computer/record', { action: 'status' });
    await until('the film has ended', async () => (await state())['status'] === 'stopped');
    const { body } = await confined.request('POST /v2/computer/record', { action: 'stop' });
    const reason = `${path}: no space left on device`;
    plainExpect(body).toMatchObject({ message: `The film ended early: ${reason}`, hint: roomHint });
    plainExpect(body.data).toMatchObject({ status: 'stopped', playable: false, error: reason });
    plainExpect(readFileSync(`/proc/${confined.pid}/root${path}`).length).toBe(Number(body.data['file_size_bytes']));
  },
  hangMs,
);

programTest(
  'DESK-FILM a film whose display has gone says so, and is playable',
  async () => {
    await using doomed = await TestDisplay.start({ width: 320, height: 240 });
    await using left = await ComputerWorker.start({ env: doomed.environment });
    const path = join(directory, 'gone.mp4');
    await left.ok('POST /v2/computer/record', { action: 'start', save_path: path, fps: 10 });
    const state = () => left.ok('POST /v2/computer/record', { action: 'status' });
    await grows(state);
    await doomed.kill();
    await until('the film has ended', async () => (await state())['status'] === 'stopped');
    plainExpect(await state()).toMatchObject({ playable: true, error: plainExpect.stringContaining('the display') });
    plainExpect(probe(path).frames).toBeGreaterThanOrEqual(10);
  },
  hangMs,
);

programTest(
  'DESK-FILM a film whose file was removed ends and says so, and one that was moved goes on',
  async () => {
    const film = async (name: string, meanwhile: (path: string) => void) => {
      const path = join(directory, name);
      await worker.ok('POST /v2/computer/record', { action: 'start', save_path: path, fps: 10 });
      await grows(() => worker.ok('POST /v2/computer/record', { action: 'status' }));
      meanwhile(path);
      return worker.ok('POST /v2/computer/record', { action: 'stop' });
    };
    const removed = join(directory, 'removed.mp4');
    plainExpect(await film('removed.mp4', (path) => rmSync(path))).toMatchObject({
      ...{ status: 'stopped', playable: false, error: `${removed} was removed` },
    });
    plainExpect(existsSync(removed)).toBe(false);

    const moved = join(directory, 'moved-away.mp4');
    const after = await film('moved.mp4', (path) => renameSync(path, moved));
    plainExpect(after).toMatchObject({ playable: true, error: null, file_size_bytes: Bun.file(moved).size });
    probe(moved);
  },
  hangMs,
);

programTest('DESK-FILM a place where the worker cannot write is named', async () => {
  for (const [path, reason] of [
    ['film.mp4', 'is not absolute'],
    [directory, 'directory'],
    ['/proc/nothing/film.mp4', 'save_path /proc/nothing/film.mp4:'],
  ] as const) {
    const { status, body } = await worker.request('POST /v2/computer/record', { action: 'start', save_path: path });
    plainExpect([path, status, body.message]).toEqual([path, 400, plainExpect.stringContaining(reason)]);
  }
});
