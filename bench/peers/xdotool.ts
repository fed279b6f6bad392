/** Measures xdotool and scrot: a program for each call, as many agents run them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackage } from '../install.ts';
import type { DesktopPeer } from './desktop.ts';

const programs = { xdotool: '/usr/bin/xdotool', scrot: '/usr/bin/scrot' };

export function xdotool(): DesktopPeer {
  for (const [name, program] of Object.entries(programs)) installPackage({ name, program });
  return {
    name: 'xdotool',
    open(display, limit) {
      const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
      const run = async (...command: string[]): Promise<void> => {
        const child = Bun.spawn([...(limit?.enter ?? []), ...command], {
          ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' },
          env: { PATH: process.env['PATH'], HOME: directory, DISPLAY: display },
        });
        if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed`);
      };
      const clickAt = (x: number, y: number) => ['mousemove', String(x), String(y), 'click', '1'];
      const picture = join(directory, 'screen.png');
      return Promise.resolve({
        click: (x, y) => run(programs.xdotool, ...clickAt(x, y)),
        // One program takes several commands.
        clickAll: (points) => run(programs.xdotool, ...points.flatMap(([x, y]) => clickAt(x, y))),
        async screenshot() {
          await run(programs.scrot, '--overwrite', '--pointer', picture);
          return await Bun.file(picture).bytes();
        },
        [Symbol.asyncDispose]: () => Promise.resolve(rmSync(directory, { recursive: true, force: true })),
      });
    },
  };
}
