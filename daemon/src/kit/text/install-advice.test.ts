/** Which installer the advice names, by the output of shells, Python and Node.js. */
import { expect, test } from 'bun:test';
import { installAdvice, moduleAdvice } from './install-advice.ts';

test('a command that no shell finds is named with apt-get', () => {
  const advice = 'Install jq as root, for example: apt-get install jq (its package may have another name).';
  expect(installAdvice('bash: line 1: jq: command not found\n', 127)).toBe(advice);
  expect(installAdvice('sh: 1: jq: not found\n', 127)).toBe(advice);
  expect(installAdvice('bash: line 1: jq: command not found\n', 1)).toBeNull();
  expect(installAdvice('bash: ./run: No such file or directory\n', 127)).toBeNull();
});

test('a module is named with the installer of its language', () => {
  const traceback =
    'Traceback (most recent call last):\n  File "<string>", line 1\nModuleNotFoundError: No module named \'yaml.x\'\n';
  expect(installAdvice(traceback, 1)).toBe('Install the module, for example: python3 -m pip install pyyaml.');
  const node = "node:internal\n  throw err;\n\nError: Cannot find module '@scope/a/lib'\nRequire stack:\n- /x.js\n";
  expect(installAdvice(node, 1)).toBe('Install the module, for example: npm install @scope/a.');
  expect(installAdvice('ValueError: no\n', 1)).toBeNull();
});

test('a missing library and a wrong version get different advice', () => {
  expect(moduleAdvice('ImportError', 'libGL.so.1: cannot open shared object file: No such file')).toBe(
    'Install the package that has libGL.so.1 as root, with apt-get install.',
  );
  expect(moduleAdvice('ImportError', "cannot import name 'x' from 'pandas.core' (/a.py)")).toBe(
    'The installed pandas has no x. Another version may: python3 -m pip install --upgrade pandas.',
  );
});

test.each(["Cannot find module './own'", "Cannot find module '/a/b'", "Cannot find module '; rm'"])(
  'no package is advised for %s',
  (message) => {
    expect(moduleAdvice('Error', message)).toBeNull();
  },
);
