/** What the command has printed stays, what its shell puts between that and the prompt goes. */
import { expect, test } from 'bun:test';
import { withoutPromptStart } from './prompt-start.ts';

const [interrupted, ended] = [130, 1];

test('the end of the line of an interrupt', () => {
  for (const kind of ['bash', 'posix'] as const) {
    expect(withoutPromptStart('begun\n\n', kind, interrupted)).toBe('begun\n');
    expect(withoutPromptStart('begun\n', kind, interrupted)).toBe('begun');
    expect(withoutPromptStart('\n', kind, interrupted)).toBe('');
    expect(withoutPromptStart('begun\n\n', kind, ended)).toBe('begun\n\n');
    expect(withoutPromptStart('begun\n', kind, null)).toBe('begun\n');
  }
});

test('zsh has none where it was interrupted itself', () => {
  expect(withoutPromptStart('begun\n\n%   \r \r', 'zsh', interrupted)).toBe('begun\n');
  expect(withoutPromptStart('\n%   \r \r', 'zsh', interrupted)).toBe('');
  expect(withoutPromptStart('begun\n%   \r \r', 'zsh', interrupted)).toBe('begun\n');
  expect(withoutPromptStart('begun%   \r \r', 'zsh', ended)).toBe('begun');
});

test('fish shows that a line has no end', () => {
  expect(withoutPromptStart(`begun⏎${' '.repeat(79)}\r⏎ \r`, 'fish', interrupted)).toBe('begun');
  expect(withoutPromptStart('begun\n', 'fish', interrupted)).toBe('begun\n');
});
