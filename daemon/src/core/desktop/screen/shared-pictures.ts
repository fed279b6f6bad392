/** Pictures of the display for all clients that watch it: each change is read once, however many watch. */
import { untilAborted } from '../../../kit/shared-work.ts';
import type { Picture } from '../desktop.ts';

export interface VersionedPicture {
  readonly version: string;
  readonly picture: Picture;
}

/** Resolves with a picture that was taken after the display has changed since that version. */
export type ReadPicture = (since: string | null, signal: AbortSignal) => Promise<VersionedPicture>;

interface Reading {
  readonly result: Promise<VersionedPicture>;
  readonly stop: AbortController;
  waiting: number;
}

export class SharedPictures {
  #latest: VersionedPicture | null = null;
  #reading: Reading | null = null;

  /** A picture of another version than this one. Rejects with what the read throws. */
  async next(since: string | null, read: ReadPicture, signal: AbortSignal): Promise<VersionedPicture> {
    // A read under way waits for what follows the latest picture, which is the display as it is now.
    if (this.#reading !== null && this.#latest !== null && this.#latest.version !== since) return this.#latest;
    const reading = (this.#reading ??= this.#read(since, read));
    reading.waiting += 1;
    try {
      return await untilAborted(reading.result, signal);
    } finally {
      reading.waiting -= 1;
      if (reading.waiting === 0) this.#leave(reading);
    }
  }

  #read(since: string | null, read: ReadPicture): Reading {
    const stop = new AbortController();
    const result = read(since, stop.signal).then((taken) => {
      this.#reading = null;
      return (this.#latest = taken);
    });
    const reading: Reading = { result, stop, waiting: 0 };
    result.catch(() => this.#leave(reading)); // The clients get the error.
    return reading;
  }

  /** No client waits for this read: it has ended, or its clients have gone. */
  #leave(reading: Reading): void {
    reading.stop.abort();
    if (this.#reading !== reading) return;
    this.#reading = null;
    this.#latest = null;
  }
}
