/** Parses the address of a daemon, as typed by a person, into the base of every URL. */
import { keyInArguments } from '../arguments.ts';
import { ClientFailure } from './failure.ts';
import { settings } from '../../config.ts';

/**
 * Accepts `http://host:port`, `https://host/prefix`, `host:port` or `host`. Without a scheme the address is http, and
 * without a port too it uses the daemon's default port. The result has no trailing slash. Throws a ClientFailure that
 * does not repeat the input.
 */
export function readAddress(text: string): string {
  const isBare = !/^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const url = parse(isBare ? `http://${text}` : text);
  if (url.username !== '' || url.password !== '' || url.searchParams.has('api_key')) throw keyInArguments();
  if (url.search !== '' || url.hash !== '') throw new ClientFailure('the address of a daemon has no ? and no #');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ClientFailure(`the address of a daemon begins with http:// or https://, not ${url.protocol}//`);
  }
  const hasPort = /:\d+$/.test(text.replace(/\/.*$/, ''));
  if (isBare && !hasPort) url.port = String(settings.port.fallback);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new ClientFailure('the first word must be the address of a daemon, as http://host:port or host:port');
  }
}
