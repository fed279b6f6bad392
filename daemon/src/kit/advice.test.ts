/** Advice has the names of the surface that answers, or is left out. */
import { expect, test } from 'bun:test';
import { advise, wordedAdvice, type ArgumentNames } from './advice.ts';

test('arguments have the names of the surface, and advice about an argument that it lacks is left out', () => {
  const advice = advise`Pass a larger ${'timeoutMs'}, or another ${'sessionId'}.`;
  const names = { timeoutMs: 'timeout_ms', sessionId: 'id' } as unknown as ArgumentNames;
  expect(wordedAdvice(advice, names)).toBe('Pass a larger timeout_ms, or another id.');
  expect(wordedAdvice(advice, { ...names, sessionId: null })).toBe(null);
  expect(wordedAdvice(advise`Try again.`, names)).toBe('Try again.');
  expect(wordedAdvice(advise`Pass ${'timeoutMs'} up to ${30}.`, names)).toBe('Pass timeout_ms up to 30.');
});
