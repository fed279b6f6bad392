/** The route that shows the display as it changes: the daemon asks the worker for a picture after each change. */
import type { ReadPicture, SharedPictures } from '../../core/desktop/screen/shared-pictures.ts';
import { callOf } from '../../http/route/operation-route.ts';
import type { RemoteDeps } from '../../http/route/remote.ts';
import { routesFor, type Route, type SurfaceStyle } from '../../http/route/route.ts';
import { LiveClientFrame, liveSocket, LiveServerFrame } from '../../http/stream/live-socket.ts';
import { dataOf } from '../../kit/answer.ts';
import type { PictureSource } from '../../kit/types/live-picture.ts';
import type { Call } from '../../operations/operation.ts';
import { changes, screenshot } from './routes.ts';

export interface DesktopLiveDeps extends RemoteDeps {
  readonly desktopPictures: SharedPictures;
  /** Fires when clients have to connect again: the daemon ends, or another one serves. */
  readonly ending: AbortSignal;
}

const path = '/v2/computer/live';
const look = { format: 'jpeg', quality: 70, cursor: true } as const;
/** The longest wait for a change in one call. */
const waitSeconds = 30;

export function watchDesktop(style: SurfaceStyle): Route<DesktopLiveDeps> {
  return routesFor<DesktopLiveDeps>(style)({
    operation: 'desktop.live',
    method: 'GET',
    path,
    summary: 'Watch the display over a WebSocket that sends a picture whenever it changes (docs/protocols/live.md)',
    socket: { sends: LiveServerFrame, receives: LiveClientFrame },
    errors: ['capacity_reached'],
    handle(deps, { context }) {
      const source = sourceOf(deps, readerOf(deps, callOf(context)));
      return liveSocket({ ending: deps.ending, refuse: style.refuse }, { path, raw: undefined }, context, source);
    },
  });
}

function sourceOf({ desktopPictures }: DesktopLiveDeps, read: ReadPicture): PictureSource {
  return async (show, signal) => {
    let seen: string | null = null;
    while (!signal.aborted) {
      const { version, picture } = await desktopPictures.next(seen, read, signal);
      seen = version;
      const { bytes, image, screen } = picture;
      await show({ bytes, image, screen, tabId: null }, signal);
    }
  };
}

function readerOf({ upstream }: DesktopLiveDeps, { trace }: Call): ReadPicture {
  return async (since, signal) => {
    const call = { trace, signal };
    for (;;) {
      const wait = { ...(since !== null && { since }), wait_seconds: waitSeconds };
      const { version, changed } = dataOf(await changes.remote.run({ upstream }, wait, call));
      if (!changed) continue;
      return { version, picture: dataOf(await screenshot.remote.run({ upstream }, look, call)) };
    }
  };
}
