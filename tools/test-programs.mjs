/** Installs the programs and files that tests use, and prints its steps: `node tools/test-programs.mjs`. */
import { existsSync } from 'node:fs';
import { isOnPath, provide, runTool, SetupError } from './setup.mjs';

/** The Debian package of each program, and of each file that has a path. */
const packageOf = {
  '/usr/lib/python3/dist-packages/gi': 'python3-gi',
  '/usr/libexec/at-spi2-registryd': 'at-spi2-core',
  '/usr/share/doc/gir1.2-gtk-3.0/copyright': 'gir1.2-gtk-3.0',
  '/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf': 'fonts-dejavu-core',
  '/usr/share/fonts/truetype/liberation/LiberationMono-Regular.ttf': 'fonts-liberation',
  Xvfb: 'xvfb',
  Xvnc: 'tigervnc-standalone-server',
  asciinema: 'asciinema',
  chromium: 'chromium',
  curl: 'curl',
  'dbus-daemon': 'dbus-daemon',
  ffmpeg: 'ffmpeg',
  ffprobe: 'ffmpeg',
  fish: 'fish',
  htop: 'htop',
  less: 'less',
  make: 'make',
  mousepad: 'mousepad',
  nginx: 'nginx-light',
  openbox: 'openbox',
  python3: 'python3',
  setxkbmap: 'x11-xkb-utils',
  tmux: 'tmux',
  top: 'procps',
  vim: 'vim',
  xterm: 'xterm',
  zsh: 'zsh',
};

await runTool(() => {
  const missing = () =>
    Object.keys(packageOf).filter((name) => !(name.startsWith('/') ? existsSync(name) : isOnPath(name)));
  const packages = missing().map((program) => packageOf[program]);
  try {
    provide({
      what: missing().join(', '),
      isThere: () => missing().length === 0,
      packages,
      otherwise: `install ${packages.join(', ')}`,
    });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.error(error.message); // Only the tests that need a missing program or file fail.
  }
  return 0;
});
