/** The clients over https, with a private certificate authority, as a shell sees them. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { makeCertificates } from '../harness/certificates.ts';
import { client, Client } from '../harness/cli-client.ts';
import { expect, test } from '../harness/sandbox.ts';

test('CLI-ADDRESS the clients accept the certificate of a private authority, and say what is wrong with a connection', async ({
  sandbox,
}) => {
  const { ca, key, cert } = makeCertificates(sandbox.directory);
  const proxy = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
    const inner = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
    socket.pipe(inner).pipe(socket);
    for (const side of [socket, inner]) side.on('error', () => socket.destroy() && inner.destroy());
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  try {
    const address = `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const greet = (env: Record<string, string>, url = address) =>
      client(sandbox, ['exec', url, '--', 'echo', 'hello'], env);
    for (const variable of ['BOXKEEP_CACERT', 'SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS'])
      expect([variable, await greet({ [variable]: ca })]).toMatchObject([variable, { code: 0, stderr: '' }]);
    const flagged = await client(sandbox, ['exec', '--cacert', ca, address, '--', 'echo', 'hello']);
    expect(flagged).toMatchObject({ code: 0, stderr: '' });
    const unread = await client(sandbox, ['ps', address, '--cacert', '/not/there']);
    expect([unread.code, unread.stderr]).toEqual([125, expect.stringContaining('--cacert names /not/there')]);
    const attached = new Client(sandbox, ['attach', address, 'work', '--env', 'HOME=/'], { BOXKEEP_CACERT: ca });
    attached.process.stdin.write('exit 7\n');
    expect(await attached.ended()).toMatchObject({ code: 7, stderr: '[new session work]\n' });

    const untrusted = await greet({});
    expect([untrusted.code, untrusted.stderr]).toEqual([125, expect.stringContaining('BOXKEEP_CACERT')]);
    const missing = await greet({ BOXKEEP_CACERT: '/not/there' });
    expect([missing.code, missing.stderr]).toEqual([125, expect.stringContaining('/not/there, which cannot be read')]);
    const plain = await greet({}, sandbox.url.replace('http:', 'https:'));
    expect([plain.code, plain.stderr]).toEqual([125, expect.stringContaining('does not speak TLS; use http://')]);
  } finally {
    proxy.close();
  }
});
