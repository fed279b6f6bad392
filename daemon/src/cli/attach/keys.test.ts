/** Typed input passes through, except the detach keys. */
import { expect, test } from 'bun:test';
import { describeKeys, DetachKeys, readKeys } from './keys.ts';

/** The input that passes these detach keys, each read on its own, with all held input at the end. */
function typed(keys: string, ...reads: string[]): { passed: string; isDetached: boolean } {
  const detach = new DetachKeys(readKeys(keys));
  let passed = '';
  for (const read of reads) {
    const { bytes, isDetached } = detach.take(Buffer.from(read, 'latin1'));
    passed += Buffer.from(bytes).toString('latin1');
    if (isDetached) return { passed, isDetached };
  }
  return { passed: passed + Buffer.from(detach.release()).toString('latin1'), isDetached: false };
}

test('the detach keys work in one read or in several, and keys typed before them are forwarded', () => {
  expect(typed('ctrl-\\,d', 'ab\u001cdrest')).toEqual({ passed: 'ab', isDetached: true });
  expect(typed('ctrl-\\,d', 'ab', '\u001c', 'd')).toEqual({ passed: 'ab', isDetached: true });
  expect(typed('ctrl-]', 'x\u001d')).toEqual({ passed: 'x', isDetached: true });
  expect(typed('~,~,.', 'a~~', '~.')).toEqual({ passed: 'a~', isDetached: true });
});

test('keys of an incomplete detach sequence are forwarded, each byte once and in order', () => {
  expect(typed('ctrl-\\,d', '\u001cx\u001c\u001c', 'e\u001c')).toEqual({
    passed: '\u001cx\u001c\u001ce\u001c',
    isDetached: false,
  });
  expect(typed('a,b,a,c', 'abab', 'abad')).toEqual({ passed: 'abababad', isDetached: false });
  expect(typed('none', '\u001cd')).toEqual({ passed: '\u001cd', isDetached: false });
});

test('detach keys are printed in the notation people write, and an invalid notation is refused', () => {
  expect(describeKeys(readKeys('ctrl-\\,d'))).toBe('Ctrl-\\ d');
  expect(describeKeys(readKeys('ctrl-p,Ctrl-Q'))).toBe('Ctrl-P Ctrl-Q');
  for (const wrong of ['', 'ctrl-', 'ctrl-1', 'ab', 'a,,b', 'ü', 'a,b,c,d,e,f,g,h,i']) {
    expect(() => readKeys(wrong)).toThrow(/^--detach-key takes keys/);
  }
});
