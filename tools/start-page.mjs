/** Prints the address of the console after an example of `npm start`, and opens it at a key. */
import { spawn, spawnSync } from 'node:child_process';
import { isOnPath } from './setup.mjs';

/** What a terminal sends for these keys while it does not turn every key into input. */
const signals = { '\x03': 'SIGINT', '\x1a': 'SIGTSTP', '\x1c': 'SIGQUIT' };

/** Takes one key where a person at a desktop can press it. After that, the terminal is as before. */
export function offerConsole({ url }) {
  console.log(`start: open a terminal, edit a file or run a cell in the console: ${url}/`);
  if (!hasDesktop()) return;
  console.log('start: press o to open it in a browser');
  const { stdin } = process;
  stdin.setRawMode(true);
  stdin.once('data', (key) => {
    stdin.setRawMode(false).pause();
    const signal = signals[key];
    if (signal) process.kill(0, signal); // To the whole group, as the terminal does.
    else if (String(key) === 'o') openPage(`${url}/`);
  });
  stdin.unref(); // The end of the daemon ends this program, whether a key was pressed or not.
}

function hasDesktop() {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  return Boolean(DISPLAY || WAYLAND_DISPLAY) && isOnPath('xdg-open') && isAtTerminal();
}

/** The kernel stops a program in the background that sets the mode of its terminal; `ps` marks the foreground with +. */
function isAtTerminal() {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  const { error, stdout } = spawnSync('ps', ['-o', 'stat=', '-p', process.pid], { encoding: 'utf8' });
  return !error && stdout.includes('+');
}

function openPage(url) {
  const opener = spawn('xdg-open', [url], { stdio: 'ignore', detached: true });
  opener.once('error', ({ message }) => console.log(`start: xdg-open does not start: ${message}`));
  opener.unref();
}
