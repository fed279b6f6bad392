/** Reads the address of a daemon, as a person writes it, into the base of every URL. */
import { BoxError } from './result.ts';

/** The port of a daemon that is given none. */
const usualPort = '18091';

/**
 * Takes `http://host:port`, `https://host/prefix`, `host:port` and `host`; a bare host is reached over http at port
 * 18091. The result has no slash at its end. Throws a BoxError that does not repeat the text, which may hold a key.
 */
export function readAddress(text: string): string {
  const isBare = !/^[a-z][a-z\d+.-]*:\/\//i.test(text);
  const url = parse(isBare ? `http://${text}` : text);
  if (url.username !== '' || url.password !== '' || url.searchParams.has('api_key'))
    throw new BoxError({
      ...{
        code: 'bad_key',
        message: 'the address of a daemon carries no key',
        hint: 'Pass the key beside the address.',
      },
    });
  if (url.search !== '' || url.hash !== '') throw wrong('the address of a daemon has no ? and no #');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw wrong(`the address of a daemon begins with http:// or https://, not ${url.protocol}//`);
  if (isBare && !/:\d+$/.test(text.replace(/\/.*$/, ''))) url.port = usualPort;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw wrong('the address of a daemon is not a URL', 'Write http://host:port, or host:port.');
  }
}

function wrong(message: string, hint: string | null = null): BoxError {
  return new BoxError({ code: 'bad_argument', message, hint });
}
