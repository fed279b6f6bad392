/** Measures packing, unpacking and copying a tree of 10 000 small files, compared with GNU tar and cp. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../install.ts';
import { atMost } from '../measurement.ts';
import { inTurns, timed } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 5;
const directories = 100;
const filesInEach = 100;
const fileBytes = 1000;

interface Packer {
  readonly name: string;
  pack(directory: string, archive: string): Promise<void>;
  unpack(archive: string, directory: string): Promise<void>;
}

interface Copier {
  readonly name: string;
  copy(source: string, directory: string): Promise<void>;
}

const cp: Copier = {
  name: 'cp -r',
  async copy(source, directory) {
    must(['cp', '-r', source, directory]);
  },
};

const gnuTar: Packer = {
  name: 'GNU tar',
  async pack(directory, archive) {
    must(['tar', '-C', directory, '-cf', archive, '.']);
  },
  async unpack(archive, directory) {
    mkdirSync(directory);
    must(['tar', '-C', directory, '-xf', archive]);
  },
};

export const tree: Row = {
  name: 'tree',
  async measure({ openBoxkeep }) {
    const base = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    try {
      await using boxkeep = await openBoxkeep();
      const [source, archive] = [join(base, 'source'), join(base, 'archive.tar')];
      writeTree(source);
      must(['tar', '-C', source, '-cf', archive, '.']);
      const ours = overHttp(boxkeep.url);
      const packers = [ours, gnuTar];
      const pack = await inTurns(packers, rounds, (packer) =>
        timed(1, () => packer.pack(source, join(base, 'packed.tar'))),
      );
      const unpack = await inTurns(packers, rounds, async (packer) => {
        const directory = join(base, 'unpacked');
        const took = await timed(1, () => packer.unpack(archive, directory));
        rmSync(directory, { recursive: true });
        return took;
      });
      const copy = await inTurns([ours, cp], rounds, async (copier) => {
        const directory = join(base, 'copied');
        const took = await timed(1, () => copier.copy(source, directory));
        rmSync(directory, { recursive: true });
        return took;
      });
      const goals = [atMost(1.5, 'GNU tar')];
      return [
        { title: '10 000 small files to an archive', unit: 'ms', goals, samples: pack },
        { title: '10 000 small files from an archive', unit: 'ms', goals, samples: unpack },
        { title: '10 000 small files copied', unit: 'ms', goals: [atMost(2, 'cp -r')], samples: copy },
      ];
    } finally {
      rmSync(base, { recursive: true });
    }
  },
};

function overHttp(url: string): Packer & Copier {
  const at = (path: string) => `${url}/v2/fs/tree?path=${encodeURIComponent(path)}`;
  return {
    name: 'boxkeep',
    async pack(directory, archive) {
      await Bun.write(archive, await succeeded(await fetch(at(directory))));
    },
    async unpack(archive, directory) {
      await (await succeeded(await fetch(at(directory), { method: 'PUT', body: Bun.file(archive) }))).arrayBuffer();
    },
    async copy(source, destination) {
      const body = JSON.stringify({ source, destination });
      await (await succeeded(await fetch(`${url}/v2/fs/copy`, { method: 'POST', body }))).arrayBuffer();
    },
  };
}

async function succeeded(response: Response): Promise<Response> {
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`);
  return response;
}

function writeTree(top: string): void {
  for (let i = 0; i < directories; i++) {
    const directory = join(top, `directory-${i}`);
    mkdirSync(directory, { recursive: true });
    for (let j = 0; j < filesInEach; j++) writeFileSync(join(directory, `file-${j}`), randomBytes(fileBytes));
  }
}
