/** A certificate of a private authority, for tests of https. */
import { join } from 'node:path';
import { needPrograms } from './programs.ts';

/** Makes an authority and a certificate of it for 127.0.0.1 in the directory. Returns their files. */
export function makeCertificates(directory: string): { ca: string; key: string; cert: string } {
  needPrograms('openssl');
  const script = `openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj '/CN=own authority'
    openssl req -newkey rsa:2048 -nodes -keyout key.pem -out request.pem -subj '/CN=sandbox'
    echo 'subjectAltName=IP:127.0.0.1' > names
    openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -days 2 -extfile names -out cert.pem`;
  const { exitCode, stderr } = Bun.spawnSync(['sh', '-e', '-c', script], { cwd: directory });
  if (exitCode !== 0) throw new Error(stderr.toString());
  const [ca, key, cert] = ['ca.pem', 'key.pem', 'cert.pem'].map((name) => join(directory, name));
  return { ca: ca ?? '', key: key ?? '', cert: cert ?? '' };
}
