/** Installs the programs that tests run, saying what it does: `node tools/test-programs.mjs`. */
import { isOnPath, provide, runTool, SetupError } from './setup.mjs';

/** By the packages of Debian that have them. */
const packageOf = {
  asciinema: 'asciinema',
  chromium: 'chromium',
  fish: 'fish',
  htop: 'htop',
  less: 'less',
  python3: 'python3',
  tmux: 'tmux',
  top: 'procps',
  vim: 'vim',
  zsh: 'zsh',
};

await runTool(() => {
  const missing = () => Object.keys(packageOf).filter((program) => !isOnPath(program));
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
    console.error(error.message); // A test that needs one of them fails by itself, and no other does.
  }
  return 0;
});
