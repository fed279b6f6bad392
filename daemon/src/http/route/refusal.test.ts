/** The exception class that a failed file operation names is the class that Python raises for the errno. */
import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { FileFailure } from '../../kit/file-failure.ts';
import { fileFields } from './refusal.ts';

const program =
  'import errno, json; print(json.dumps({n: type(OSError(e, "")).__name__ for e, n in errno.errorcode.items()}))';

test('exception_type is the class of Python 3 for every errno', () => {
  const { stdout, stderr } = spawnSync('python3', ['-c', program], { encoding: 'utf8' });
  expect(stderr).toBe('');
  const raised = JSON.parse(stdout) as Record<string, string>;
  // A file that is not text is the one failure that is no OSError.
  raised['EILSEQ'] = 'UnicodeDecodeError';
  const names = Object.keys(constants.errno).filter((name) => name in raised);
  expect(names.length).toBeGreaterThan(60);
  for (const errnoName of names) {
    const failure = new FileFailure({ operation: 'read', path: '/x', errnoName });
    expect([errnoName, fileFields(failure, failure.message).exception_type]).toEqual([
      errnoName,
      raised[errnoName] as string,
    ]);
  }
});
