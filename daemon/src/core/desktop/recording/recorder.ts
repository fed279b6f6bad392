/** Records the display: one film at a time, in a file that is playable wherever it ends. */
import { CoreError } from '../../../kit/errors.ts';
import { untilAborted } from '../../../kit/shared-work.ts';
import type { Encoder, StartEncoder } from '../../../platform/picture/encoder.ts';
import type { FilmFile, openFilmFile } from '../../../platform/picture/film-file.ts';
import type { Recording, RecordRequest } from '../desktop.ts';
import { Fragments, hasFrames } from './fragments.ts';

export interface RecorderDeps {
  readonly startEncoder: StartEncoder;
  readonly openFile: typeof openFilmFile;
  readonly now: () => number;
}

const defaultDirectory = '/tmp/recordings';
const noFilm: Recording = {
  status: 'idle',
  seconds: 0,
  savePath: null,
  fileBytes: null,
  isPlayable: null,
  failure: null,
};

export class Recorder {
  #film: Film | null = null;
  /** True from a start to its end, so that two starts cannot both find no film. */
  #isStarting = false;

  constructor(private readonly deps: RecorderDeps) {}

  async record(request: RecordRequest, signal: AbortSignal): Promise<Recording> {
    if (request.action === 'start') await this.#start(request, signal);
    if (request.action === 'stop') await this.#film?.stop();
    return this.#film?.state() ?? noFilm;
  }

  async close(): Promise<void> {
    await this.#film?.stop();
  }

  async #start(request: RecordRequest, signal: AbortSignal): Promise<void> {
    if (this.#isStarting || this.#film?.isRecording) {
      throw new CoreError('session_busy', 'the display is being recorded, and one recording runs at a time', {
        hint: 'Stop it first.',
        next: { operation: 'desktop.record' },
      });
    }
    this.#isStarting = true;
    try {
      this.#film = await this.#open(request, signal);
    } finally {
      this.#isStarting = false;
    }
  }

  async #open(request: RecordRequest, signal: AbortSignal): Promise<Film> {
    const { now, openFile, startEncoder } = this.deps;
    const file = openFile(request.savePath ?? defaultPath(now()));
    try {
      const encoder = startEncoder(request);
      const film = new Film(file, encoder, now);
      await film.begun(signal);
      return film;
    } catch (error) {
      file.remove();
      throw error;
    }
  }
}

function defaultPath(now: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/[-:]/g, '').replace('T', '_').replace(/\..*$/, '');
  return `${defaultDirectory}/recording_${stamp}.mp4`;
}

class Film {
  readonly #startedMs: number;
  #endedMs: number | null = null;
  #hasFrames = false;
  #isStopping = false;
  #failure: CoreError | null = null;
  readonly #fragments = new Fragments();
  readonly #begun = Promise.withResolvers<void>();
  readonly #over: Promise<void>;

  constructor(
    private readonly file: FilmFile,
    private readonly encoder: Encoder,
    private readonly now: () => number,
  ) {
    this.#startedMs = now();
    this.#begun.promise.catch(() => null); // The end of the encoder may be reported before anything waits.
    this.#over = this.#write();
  }

  get isRecording(): boolean {
    return this.#endedMs === null;
  }

  /** Resolves when the file has the description of the film, so that everything after it is playable. */
  async begun(signal: AbortSignal): Promise<void> {
    try {
      await untilAborted(this.#begun.promise, signal);
    } catch (error) {
      this.encoder.kill();
      await this.#over;
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.isRecording) await this.encoder.stop();
    await this.#over;
  }

  state(): Recording {
    return {
      status: this.isRecording ? 'recording' : 'stopped',
      seconds: ((this.#endedMs ?? this.now()) - this.#startedMs) / 1000,
      savePath: this.file.path,
      fileBytes: this.file.bytes,
      isPlayable: this.#hasFrames && !this.file.isRemoved,
      failure: this.#failure,
    };
  }

  async #write(): Promise<void> {
    const written = await this.#writePieces();
    this.encoder.kill();
    const reason = await this.encoder.ended;
    this.file.close();
    const isExpected = this.#isStopping || reason === null;
    this.#failure = written ?? (isExpected ? null : failureOf(reason));
    this.#endedMs = this.now();
    this.#begun.reject(this.#failure ?? failureOf('ffmpeg has written no film'));
  }

  /** Returns the failure of a write, on a full disk for example: the film then ends with the last whole second. */
  async #writePieces(): Promise<CoreError | null> {
    try {
      for await (const bytes of this.encoder.output) {
        for (const piece of this.#fragments.push(bytes)) {
          this.file.append(piece);
          this.#hasFrames ||= hasFrames(piece);
        }
        if (this.file.bytes > 0) this.#begun.resolve();
      }
      return null;
    } catch (error) {
      return error instanceof CoreError ? error : failureOf(String(error));
    }
  }
}

function failureOf(reason: string): CoreError {
  return new CoreError('unavailable', `the display cannot be recorded: ${reason}`, {
    hint: 'Check that ffmpeg has libx264 and that the display is up.',
  });
}
