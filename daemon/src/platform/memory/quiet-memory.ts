/** Releases the memory that a load has left, once the daemon is quiet. */
import { readFileSync } from 'node:fs';
import { lookEvery } from '../../kit/events/look-every.ts';
import { releaseProgramPages } from './program-pages.ts';

const mebibyte = 1024 * 1024;

/** Time between two looks. The release follows one to two such times after the end of a load. */
const lookEveryMs = 10_000;
/** A daemon that used less processor time than this since the last look is quiet. */
const quietCpuMs = 100;
/**
 * A release costs about 40 ms, and code that runs again is compiled again: the next commands take some milliseconds
 * more. Less growth than this since the last release is not worth that.
 */
const worthwhileBytes = 16 * mebibyte;
/** The runtime collects garbage in the next turns of the event loop, and uses pages of the program for that. */
const settleMs = 1000;

export interface OwnProcess {
  /** Processor time of all threads so far. */
  cpuMs(): number;
  /** Resident memory that is not a copy of a file. */
  anonymousBytes(): number;
  release(): void;
}

export function releaseWhenQuiet(): void {
  const memory = new QuietMemory(thisProcess);
  lookEvery(lookEveryMs, () => memory.look()).unref();
}

export class QuietMemory {
  #cpuMs: number;
  /** The least memory since the last release. */
  #leastBytes: number;

  constructor(private readonly own: OwnProcess) {
    this.#cpuMs = own.cpuMs();
    this.#leastBytes = own.anonymousBytes();
  }

  /** Call at regular intervals. */
  look(): void {
    const cpuMs = this.own.cpuMs();
    const isQuiet = cpuMs - this.#cpuMs < quietCpuMs;
    this.#cpuMs = cpuMs;
    const bytes = this.own.anonymousBytes();
    this.#leastBytes = Math.min(this.#leastBytes, bytes);
    if (!isQuiet || bytes - this.#leastBytes < worthwhileBytes) return;
    this.own.release();
    // The next look finds what remains.
    this.#leastBytes = Infinity;
  }
}

const thisProcess: OwnProcess = {
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  anonymousBytes() {
    return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? 0) * 1024;
  },
  release() {
    // After a load, compiled code is the largest part, and a garbage collection alone keeps compiled code.
    Bun.shrink();
    setTimeout(releaseProgramPages, settleMs);
  },
};
