/** A picture of a tab or a display as it is now, on its way to a client. */
import type { Size } from './geometry.ts';

export interface LivePicture {
  /** A JPEG. */
  readonly bytes: Uint8Array;
  readonly image: Size;
  /** What the picture shows, in the pixels that clicks are counted in. */
  readonly screen: Size;
  /** The tab that it shows; null for a display. */
  readonly tabId: string | null;
}

/** Resolves when the client can take another picture. The signal ends the wait. */
export type ShowPicture = (picture: LivePicture, signal: AbortSignal) => Promise<void>;

/** Shows what changes until the signal fires, and the newest picture whenever the client can take one. */
export type PictureSource = (show: ShowPicture, signal: AbortSignal) => Promise<void>;
