/** Measures cua-computer-server of PyPI: pyautogui behind one WebSocket. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { virtualEnvironment } from '../install.ts';
import { freePort, launch } from '../launch.ts';
import type { DesktopPeer } from './desktop.ts';

const release = 'cua-computer-server==0.1.25';
/** The newest one whose constructor takes the arguments of this server. */
const framework = 'fastapi==0.115.12';

interface Answer {
  readonly success: boolean;
  readonly error?: string;
  readonly image_data?: string;
}

export function computerServer(): DesktopPeer {
  const program = 'cua-computer-server';
  const place = virtualEnvironment({ name: release, packages: [release, framework], program });
  return {
    name: 'computer-server',
    async open(display, limit) {
      const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
      const authority = join(directory, 'authority');
      writeFileSync(authority, ''); // Its X library needs a file, even an empty one.
      const port = await freePort();
      const server = await launch(
        {
          command: [join(place, 'bin', program), '--host', '127.0.0.1', '--port', String(port)],
          ...{ serving: /Uvicorn running on (\S+)/, logsTo: 'stderr', url: null },
          // A name of a container makes the server ask for a key of its cloud. Pictures need the type of the session.
          environment: {
            DISPLAY: display,
            XAUTHORITY: authority,
            HOME: directory,
            CONTAINER_NAME: '',
            XDG_SESSION_TYPE: 'x11',
          },
        },
        limit,
      );
      const socket = await connect(`ws://127.0.0.1:${port}/ws`);
      const call = async (command: string, params: object): Promise<Answer> => {
        const answered = Promise.withResolvers<Answer>();
        socket.onmessage = ({ data }) => answered.resolve(JSON.parse(String(data)) as Answer);
        socket.send(JSON.stringify({ command, params }));
        const answer = await answered.promise;
        if (!answer.success) throw new Error(`${command}: ${answer.error ?? 'no reason given'}`);
        return answer;
      };
      const click = async (x: number, y: number) => void (await call('left_click', { x, y }));
      return {
        click,
        async clickAll(points) {
          for (const [x, y] of points) await click(x, y);
        },
        async screenshot() {
          const { image_data: text = '' } = await call('screenshot', {});
          return Buffer.from(text, 'base64');
        },
        async [Symbol.asyncDispose]() {
          socket.close();
          await server[Symbol.asyncDispose]();
          rmSync(directory, { recursive: true, force: true });
        },
      };
    },
  };
}

async function connect(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url);
  const opened = Promise.withResolvers<void>();
  socket.onopen = () => opened.resolve();
  socket.onerror = () => opened.reject(new Error(`${url} does not open`));
  await opened.promise;
  return socket;
}
