/** Sets a PATH, a locale, a time zone and a time limit that do not depend on the machine, before each test file. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setDefaultTimeout } from 'bun:test';
import { plainPythonPath } from '../../tools/plain-python.mjs';
import { repositoryRoot } from '../../tools/repository.mjs';
import { hangMs } from './fair-clock.ts';

const localeVariables = ['LANG', 'LANGUAGE', ...Object.keys(process.env).filter((name) => name.startsWith('LC_'))];

if (!process.env['PATH']?.startsWith(plainPythonPath)) {
  if (!existsSync(join(plainPythonPath, '../.installed-requirements')))
    spawnSync('node', [join(repositoryRoot, 'tools/plain-python.mjs')], { stdio: 'inherit' });
  process.env['PATH'] = `${plainPythonPath}:${process.env['PATH'] ?? ''}`;
}
setDefaultTimeout(hangMs);
for (const name of localeVariables) delete process.env[name];
Object.assign(process.env, { LANG: 'C.UTF-8', TZ: 'UTC' });
