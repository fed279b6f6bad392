/** When memory is released: after a load, while the daemon is quiet, and only where the growth is worth a release. */
import { expect, test } from 'bun:test';
import { QuietMemory } from './quiet-memory.ts';

function looking() {
  const own = { cpuMs: 0, mib: 10, releases: 0 };
  const memory = new QuietMemory({
    cpuMs: () => own.cpuMs,
    anonymousBytes: () => own.mib * 1024 * 1024,
    release: () => void own.releases++,
  });
  return {
    own,
    /** One look, after this much processor time. Returns the number of releases so far. */
    look(cpuMs: number, mib: number): number {
      own.cpuMs += cpuMs;
      own.mib = mib;
      memory.look();
      return own.releases;
    },
  };
}

test('memory is released at the first quiet check after a load, and only once', () => {
  const { look } = looking();
  expect([look(5000, 60), look(99, 60), look(0, 25), look(0, 25)]).toEqual([0, 1, 1, 1]);
});

test('growth counts from the size after the last release', () => {
  const { look } = looking();
  look(0, 60);
  look(0, 30);
  expect([look(0, 45), look(0, 46)]).toEqual([1, 2]);
});

test('a daemon that cannot release much does not retry at each check', () => {
  const { look } = looking();
  expect([look(0, 60), look(0, 60), look(0, 60), look(0, 75), look(0, 76)]).toEqual([1, 1, 1, 1, 2]);
});
