/** What a client asks of a desktop, and what the desktop answers. */
import type { CoreError } from '../../kit/errors.ts';
import type { Size, Point } from '../../kit/types/geometry.ts';
import type { EncoderSettings } from '../../platform/picture/encoder.ts';
import type { ComputerCapability } from '../capabilities/report.ts';
import type { Area } from './actions/action.ts';

/** Every wait of a call ends with this signal. */
export interface CallOptions {
  readonly signal: AbortSignal;
}

export type PictureFormat = 'png' | 'jpeg' | 'webp';

export interface ScreenshotRequest {
  readonly format: PictureFormat;
  /** 0 to 100; null for the default of the format. */
  readonly quality: number | null;
  /** Null for the whole screen. */
  readonly area: Area | null;
  /** Null for the size of the area. */
  readonly scaleTo: Size | null;
  readonly hasCursor: boolean;
}

export interface Picture {
  readonly format: PictureFormat;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly screen: Size;
  readonly image: Size;
}

export interface ChangeRequest {
  /** The version that the client has seen; null for none. */
  readonly since: string | null;
  readonly waitMs: number;
}

export interface ScreenVersion {
  readonly version: string;
  readonly hasChanged: boolean;
}

export interface DesktopInfo {
  readonly isAvailable: boolean;
  /** The names that the worker was started with; null where they are not set. */
  readonly display: string | null;
  readonly xauthority: string | null;
  readonly screen: Size | null;
  readonly capabilities: Pick<
    ComputerCapability,
    'screenshot' | 'actions' | 'clipboard' | 'recording' | 'accessibility'
  >;
  readonly warnings: readonly string[];
}

export interface DesktopWindow {
  readonly id: string;
  readonly title: string;
  /** Null for a window that does not name its process. */
  readonly processId: number | null;
  readonly bounds: Area;
  readonly isMinimized: boolean;
  readonly isActive: boolean;
}

export interface WindowList {
  /** Changes when the list does. */
  readonly snapshotId: string;
  readonly windows: readonly DesktopWindow[];
}

export interface PerformOptions extends CallOptions {
  /** The size of the picture that the coordinates refer to; null for the screen. */
  readonly coordinates: Size | null;
  /** The picture that follows the last action; null for none. */
  readonly screenshot: ScreenshotRequest | null;
}

export interface Performed {
  /** What was read by an action that reads, such as the position of the pointer. */
  readonly output: ActionOutput | null;
  readonly picture: Picture | null;
  /** Why there is no picture, although one was asked for. */
  readonly pictureError: string | null;
}

export type ActionOutput =
  | { readonly kind: 'cursor'; readonly position: Point }
  | { readonly kind: 'picture'; readonly picture: Picture };

export interface BatchResult extends Performed {
  /** How many actions were performed. */
  readonly performed: number;
  /** The index of the action that failed; null when all were performed. */
  readonly failedIndex: number | null;
  /** Why it failed. */
  readonly error: string | null;
}

export interface RecordRequest extends EncoderSettings {
  readonly action: 'start' | 'status' | 'stop';
  /** Null for a new file in the default directory. */
  readonly savePath: string | null;
}

export interface Recording {
  readonly status: 'recording' | 'stopped' | 'idle';
  readonly seconds: number;
  readonly savePath: string | null;
  readonly fileBytes: number | null;
  /** Whether the file is there and has frames; null without a recording. */
  readonly isPlayable: boolean | null;
  /** Why the film ended before its time and before it was stopped. */
  readonly failure: CoreError | null;
}
