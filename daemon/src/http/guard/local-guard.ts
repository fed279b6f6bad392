/** Refuses what pages can make a browser send to a service that needs no key and serves programs of this machine. */
import { CoreError } from '../../kit/errors.ts';
import { hostName, isSentByPage } from './guard.ts';

const hint = 'Call from a program of this machine at 127.0.0.1, or call the routes of the daemon.';
const mediaType = /^application\/json *(;|$)/i;

/** Throws `forbidden` for a foreign Host, Origin or page, `unsupported_media_type` for a body that is not JSON. */
export function guardLocalRequest({ method, headers }: Request, url: URL): void {
  const host = hostName(headers.get('host') ?? url.host);
  if (!/^(localhost|127(\.\d+){3}|::1)$/.test(host)) {
    throw new CoreError('forbidden', `the host ${host} is not served here`, { hint });
  }
  if (isSentByPage(headers)) throw new CoreError('forbidden', 'pages are not served here', { hint });
  // A page may send a form or plain text to any address without asking first.
  if (method !== 'GET' && method !== 'HEAD' && !mediaType.test(headers.get('content-type') ?? '')) {
    throw new CoreError('unsupported_media_type', 'the body is not declared as JSON', {
      hint: 'Send content-type: application/json.',
    });
  }
}
