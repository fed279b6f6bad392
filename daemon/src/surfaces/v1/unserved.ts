/** What the routes of planes that are not served yet answer, before anything is done. */
import { CoreError } from '../../kit/errors.ts';

export function noBrowser(): never {
  throw new CoreError('unavailable', 'there is no browser: this version does not serve the browser plane', {
    hint: 'Run a browser with --remote-debugging-port as a command, and drive it from there; GET /v1/capabilities tells what is served.',
  });
}

export function noDesktop(): never {
  throw new CoreError('unavailable', 'there is no desktop: this version does not serve the desktop plane', {
    hint: 'Run an X server and xdotool or ffmpeg as commands; GET /v1/capabilities tells what is served.',
  });
}
