/** Finds the certificate authorities that a client trusts: those of the runtime, of the system, and the caller's own. */
import { readFileSync } from 'node:fs';
import { errnoOf } from '../../kit/errno.ts';
import type { Environment } from '../../kit/types/environment.ts';
import { ClientFailure } from './failure.ts';

/** Files that name the caller's own authorities. The first variable is for this client alone. */
const variables = ['BOXKEEP_CACERT', 'SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS'];
/** Where distributions keep the store of the system. */
const stores = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** `file` is the value of --cacert. Throws a ClientFailure for a named file that cannot be read. */
export function trustedAuthorities(file: string | null, environment: Environment): string[] {
  const named = [['--cacert', file] as const, ...variables.map((name) => [name, environment[name]] as const)];
  const own = named.flatMap(([name, path]) => (path ? [readNamed(name, path)] : []));
  const { rootCertificates } = process.getBuiltinModule('node:tls');
  return [...rootCertificates, ...stores.map(readStore), ...own].filter((text) => text !== '');
}

function readNamed(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ClientFailure(`${name} names ${path}, which cannot be read: ${errnoOf(error) ?? String(error)}`);
  }
}

function readStore(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // This distribution keeps its store elsewhere, or has none.
  }
}
