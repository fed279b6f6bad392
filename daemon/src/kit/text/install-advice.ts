/** Says how to install what a program has not found: a module of Python or Node.js, or a command. */

/** Packages whose name is not that of their module. */
const packageOf: Readonly<Record<string, string>> = {
  ...{ bs4: 'beautifulsoup4', cv2: 'opencv-python', dateutil: 'python-dateutil', dotenv: 'python-dotenv' },
  ...{ PIL: 'pillow', skimage: 'scikit-image', sklearn: 'scikit-learn', yaml: 'pyyaml' },
};

/** The exit code of a shell that has not found a command. */
const notFound = 127;
/** An error is at the end of the output. */
const maxCharacters = 8192;

/** For a failed program; null where nothing is missing, or where the name cannot be a package. */
export function installAdvice(output: string, exitCode: number): string | null {
  const text = output.slice(-maxCharacters);
  const command = exitCode === notFound ? /(?:^|[ :])([\w.+-]+): (?:command )?not found$/m.exec(text)?.[1] : undefined;
  if (command !== undefined)
    return `Install ${command} as root, for example: apt-get install ${command} (its package may have another name).`;
  const [, name, message = ''] = /^(\w*Error)(?: \[\w+\])?: (.*)$/m.exec(text.slice(lastErrorAt(text))) ?? [];
  return name === undefined ? null : moduleAdvice(name, message);
}

function lastErrorAt(text: string): number {
  return Math.max(
    0,
    ...[...text.matchAll(/^(?:ImportError|ModuleNotFoundError|Error(?: \[\w+\])?): /gm)].map(({ index }) => index),
  );
}

/** `name` and `message` are those of an error of Python or Node.js. */
export function moduleAdvice(name: string, message: string): string | null {
  const [, module] = /^No module named '?([\w.]+)/.exec(message) ?? [];
  if (name === 'ModuleNotFoundError' && module !== undefined) {
    const [top = module] = module.split('.');
    return `Install the module, for example: python3 -m pip install ${packageOf[top] ?? top}.`;
  }
  if (name === 'ImportError') return importAdvice(message);
  const [, wanted = ''] = /^Cannot find (?:module|package) '([^']+)'/.exec(message) ?? [];
  const [packageName] = /^(?:@[\w.-]+\/)?[a-z\d][\w.-]*/i.exec(wanted) ?? [];
  return name === 'Error' && packageName !== undefined
    ? `Install the module, for example: npm install ${packageName}.`
    : null;
}

function importAdvice(message: string): string | null {
  const [, library] = /^([\w.+-]+\.so[\w.]*): cannot open shared object file/.exec(message) ?? [];
  if (library !== undefined) return `Install the package that has ${library} as root, with apt-get install.`;
  const [, name, module] = /^cannot import name '(\w+)' from '([\w.]+)'/.exec(message) ?? [];
  if (name === undefined || module === undefined) return null;
  const [top = module] = module.split('.');
  return `The installed ${top} has no ${name}. Another version may: python3 -m pip install --upgrade ${packageOf[top] ?? top}.`;
}
