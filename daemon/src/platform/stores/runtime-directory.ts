/** Finds the private directory that holds commands, their logs and the daemon's sockets. */
import { accessSync, constants, existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { randomBytes } from '../../kit/crypto.ts';
import { errnoOf } from '../../kit/errno.ts';
import type { Init } from '../process/init.ts';

/**
 * Opens the first candidate that can be private to the daemon, and has init own it.
 * `wanted`, when given, is the only candidate. Throws an Error with one clear line.
 */
export function openRuntimeDirectory(init: Init, wanted: string | null, port: number): string {
  const refusals: string[] = [];
  for (const path of wanted === null ? usualPlaces(port) : [wanted]) {
    const refusal = makePrivate(path) ?? askInit(init, path);
    if (refusal === null) return path;
    refusals.push(refusal);
  }
  throw new Error(`no runtime directory: ${refusals.join('; ')}`);
}

/** What a daemon notes for the next one: its port, and the digest of its key (SHA-256, hexadecimal). */
type Noted = 'port' | 'key-digest' | 'browser-mcp-numbers';

/** False when the disk has no room; the daemon serves all the same. */
export function keepNoted(directory: string, name: Noted, value: string): boolean {
  try {
    writeFileSync(`${directory}/${name}`, `${value}\n`, { mode: 0o600 });
    return true;
  } catch {
    return false; // A full disk. Only some of the next daemons need the note.
  }
}

/** Null when nothing is noted. */
export function readNoted(directory: string, name: Noted): string | null {
  const path = `${directory}/${name}`;
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}

const idPattern = /^sbx_[0-9a-f]{32}$/;

/**
 * The id of the sandbox, made by the first daemon of this directory. On a disk without room the daemon serves under an
 * id that the next start does not know.
 */
export function keepSandboxId(directory: string): string {
  const path = `${directory}/sandbox-id`;
  const kept = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  if (idPattern.test(kept)) return kept;
  const id = `sbx_${randomBytes(16).toString('hex')}`;
  try {
    writeFileSync(path, `${id}\n`, { mode: 0o600 });
  } catch {
    // A full disk.
  }
  return id;
}

/** The candidates and the obstacle to each; nothing is created. */
export function describePlaces(wanted: string | null, port: number): { path: string; refusal: string | null }[] {
  return (wanted === null ? usualPlaces(port) : [wanted]).map((path) => ({ path, refusal: refusalOf(path) }));
}

function refusalOf(path: string): string | null {
  try {
    if (existsSync(path)) return privacyRefusal(path);
    let parent = dirname(path);
    while (!existsSync(parent)) parent = dirname(parent);
    accessSync(parent, constants.W_OK);
    return null;
  } catch (error) {
    return errnoOf(error) ?? String(error);
  }
}

function usualPlaces(port: number): string[] {
  const uid = process.getuid?.() ?? 0;
  const own = `${tmpdir()}/boxkeep-${uid}-${port}`;
  return uid === 0 ? [`/var/lib/boxkeep/${port}`, `/run/boxkeep/${port}`, own] : [own];
}

function askInit(init: Init, path: string): string | null {
  const failure = init.listen(path);
  if (failure === null) return null;
  if (failure.stage === 'lock')
    throw new Error(
      `another boxkeep runs on ${path}; end it with boxkeep stop, or choose another --port and --runtime-dir`,
    );
  return `${path}: ${failure.stage} ${failure.errorName}`;
}

/** Null when the directory is private to this account; otherwise the reason why not. */
function makePrivate(path: string): string | null {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return privacyRefusal(path);
  } catch (error) {
    return `${path}: ${errnoOf(error) ?? String(error)}`;
  }
}

function privacyRefusal(path: string): string | null {
  const status = lstatSync(path);
  if (!status.isDirectory()) return `${path} is not a directory`;
  if (status.uid !== (process.getuid?.() ?? status.uid)) return `${path} belongs to uid ${status.uid}`;
  if ((status.mode & 0o077) !== 0) return `${path} is open to others (chmod 700 it)`;
  return null;
}
