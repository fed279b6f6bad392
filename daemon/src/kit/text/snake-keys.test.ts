/** Keys are converted at every depth, values never. */
import { expect, test } from 'bun:test';
import { snakeKeys } from './snake-keys.ts';

test('keys of records and of records in lists become snake_case', () => {
  const turned = snakeKeys({ homeDir: '/Home', byName: [{ pythonKernels: ['aB'] }], plain: null });

  expect(turned).toEqual({ home_dir: '/Home', by_name: [{ python_kernels: ['aB'] }], plain: null });
});
