/**
 * Runs Debian's nginx with sendfile as the baseline of the file rows.
 *
 * It shows what a file costs a server that does nothing else.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackage } from '../install.ts';
import { freePort, launch } from '../launch.ts';
import { transferOf } from './files.ts';
import type { FileTransfer } from './peer.ts';

const program = '/usr/sbin/nginx';

export interface FileServer extends AsyncDisposable {
  readonly name: string;
  readonly files: FileTransfer;
}

/** Serves this directory. Paths are relative to it. */
export async function openNginx(root: string): Promise<FileServer> {
  installPackage({ program, name: 'nginx-light' });
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-nginx-'));
  mkdirSync(join(directory, 'bodies'));
  const port = await freePort();
  writeFileSync(join(directory, 'nginx.conf'), settings({ directory, root, port }));
  const server = await launch(
    {
      command: [program, '-e', 'stderr', '-p', directory, '-c', join(directory, 'nginx.conf')],
      serving: /start worker process /,
      logsTo: 'stderr',
      url: () => `http://127.0.0.1:${port}/`,
    },
    null,
  );
  const at = (path: string) => `http://127.0.0.1:${port}${path.slice(root.length)}`;
  return {
    name: 'nginx',
    files: transferOf({
      downloadUrl: at,
      upload: (path, content) => fetch(at(path), { method: 'PUT', body: content }),
    }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function settings({ directory, root, port }: { directory: string; root: string; port: number }): string {
  return `
daemon off;
worker_processes 1;
user root;
pid ${directory}/pid;
error_log stderr notice;
events {}
http {
  access_log off;
  sendfile on;
  client_max_body_size 0;
  client_body_temp_path ${root}/bodies;
  server {
    listen 127.0.0.1:${port};
    root ${root};
    location / { dav_methods PUT; }
  }
}
`;
}
