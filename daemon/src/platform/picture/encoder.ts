/** Runs ffmpeg, which films the display and writes fragmented MP4 to a pipe of this process. */
import type { Subprocess } from 'bun';
import { CoreError } from '../../kit/errors.ts';
import type { Environment } from '../../kit/types/environment.ts';

export interface EncoderSettings {
  readonly fps: number;
  /** The quality of H.264, from 0 to 51; less is better. */
  readonly crf: number;
  readonly maxSeconds: number;
  /** The size of the film; null for the size of the display. */
  readonly width: number | null;
  readonly height: number | null;
}

export interface Encoder {
  readonly output: AsyncIterable<Uint8Array>;
  /** Resolves when ffmpeg has ended: with the last error that ffmpeg reported, or null after the full time. */
  readonly ended: Promise<string | null>;
  /** Ends the film with everything up to now. */
  stop(): Promise<void>;
  kill(): void;
}

export type StartEncoder = (settings: EncoderSettings) => Encoder;

export interface EncoderPlace {
  readonly find: (program: string) => string | null;
  readonly environment: Environment;
}

const stopWithinMs = 5000;
const maxMessageCharacters = 500;

/**
 * The pipe makes ffmpeg end with this process: its next write fails. Fragments of one second make the file playable
 * up to the last of them.
 */
export function encoderOf({ find, environment }: EncoderPlace): StartEncoder {
  return (settings) => {
    const program = find('ffmpeg');
    if (program === null) {
      throw new CoreError('unavailable', 'ffmpeg is not on PATH', {
        isRetryable: false,
        hint: 'Install ffmpeg to record the display.',
      });
    }
    const child = Bun.spawn([program, ...argumentsFor(settings, environment['DISPLAY'] ?? '')], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      cwd: '/',
      env: { ...environment },
    });
    return {
      output: child.stdout,
      ended: lastMessage(child),
      stop: () => stop(child),
      kill: () => child.kill('SIGKILL'),
    };
  };
}

function argumentsFor({ fps, crf, maxSeconds, width, height }: EncoderSettings, display: string): string[] {
  return [
    ...['-hide_banner', '-loglevel', 'error', '-nostdin'],
    ...['-f', 'x11grab', '-framerate', String(fps), '-draw_mouse', '1', '-i', display],
    ...['-t', String(maxSeconds), '-an'],
    // The encoder needs even sides. The source guesses its own rate, which differs when the machine is busy.
    ...['-vf', `fps=${fps},scale=${side(width, 'iw')}:${side(height, 'ih')}`],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', String(crf), '-pix_fmt', 'yuv420p', '-g', String(fps)],
    ...['-movflags', 'frag_keyframe+empty_moov+default_base_moof', '-flush_packets', '1', '-f', 'mp4', 'pipe:1'],
  ];
}

function side(pixels: number | null, own: string): string {
  return `trunc(${pixels ?? own}/2)*2`;
}

/** ffmpeg writes the end of the film at SIGINT. */
async function stop(child: Subprocess<'ignore', 'pipe', 'pipe'>): Promise<void> {
  child.kill('SIGINT');
  const late = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
  await child.exited;
  clearTimeout(late);
}

async function lastMessage(child: Subprocess<'ignore', 'pipe', 'pipe'>): Promise<string | null> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of child.stderr) {
    text = (text + decoder.decode(bytes, { stream: true })).slice(-maxMessageCharacters);
  }
  const code = await child.exited;
  // A display that goes is reported with the exit code 0.
  const last = text.trim().split('\n').at(-1);
  return last || (code === 0 ? null : `ffmpeg ended with ${child.signalCode ?? code}`);
}
