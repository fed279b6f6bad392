/** Generates the steps of a terminal fuzz from a seed. */
import fc from 'fast-check';
import { flavours, quietFlavours, type Flavour } from './terminal-fuzz-bytes.ts';
import { commandKinds } from './terminal-fuzz-shell.ts';

const seed = fc.integer({ min: 1, max: 0x7fffffff });
const index = fc.integer({ min: 0, max: 99 });

/** Mostly small, as people and programs write. Occasionally a flood. */
const emittedBytes = fc.oneof(
  { weight: 60, arbitrary: fc.integer({ min: 1, max: 300 }) },
  { weight: 30, arbitrary: fc.integer({ min: 300, max: 6000 }) },
  { weight: 8, arbitrary: fc.integer({ min: 6000, max: 60_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 60_000, max: 262_144 }) },
);
const typedBytes = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 40 }) },
  { weight: 6, arbitrary: fc.integer({ min: 40, max: 5000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 5000, max: 100_000 }) },
);

const wish = fc.record({
  protocol: fc.constantFrom('json', 'binary'),
  mode: fc.constantFrom('rw', 'ro'),
  durable: fc.boolean(),
  restore: fc.nat(5).map((n) => n === 0),
  acks: fc.nat(2).map((n) => n === 0),
  /** How many bytes before the end to start. Null means without an offset. */
  back: fc.oneof(
    { weight: 5, arbitrary: fc.constant(null) },
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 40_000 }) },
    { weight: 1, arbitrary: fc.constant(1_000_000) },
  ),
});

/**
 * tmux 3.3a ends by a memory error of its own, also without the daemon, when lines that it has wrapped become wider and
 * the cursor was moved above them. Its sessions therefore keep their width.
 */
const anyColumns = { native: fc.integer({ min: 2, max: 200 }), tmux: fc.constant(80) };

/** The steps of a session that outputs given bytes and records typed bytes. */
const plainStep = (shown: readonly Flavour[], cols: fc.Arbitrary<number>) =>
  fc.oneof(
    {
      weight: 34,
      arbitrary: fc.record({
        kind: fc.constant('emit'),
        flavour: fc.constantFrom(...shown),
        bytes: emittedBytes,
        seed,
      }),
    },
    {
      weight: 20,
      arbitrary: fc.record({
        kind: fc.constant('type'),
        flavour: fc.constantFrom('noise', 'text', 'text', 'broken'),
        carrier: fc.constantFrom('binary', 'json', 'text', 'http'),
        bytes: typedBytes,
        seed,
      }),
    },
    { weight: 12, arbitrary: fc.record({ kind: fc.constant('attach'), wish }) },
    {
      weight: 10,
      arbitrary: fc.record({
        kind: fc.constant('leave'),
        how: fc.constantFrom('close', 'acknowledge', 'drop'),
        index,
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('break'), bytes: typedBytes, seed }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('stall'), index, ms: fc.integer({ min: 1, max: 60 }) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('resize'),
        cols,
        rows: fc.integer({ min: 2, max: 60 }),
        bySocket: fc.boolean(),
      }),
    },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('malformed'), index }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('refused'), index }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('look'), index }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('signal'), index }) },
  );

/** The steps of a session at its prompt. */
const command = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constant('exec'),
      command: fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom('count', 'fail', 'long', 'syntax') },
        { weight: 2, arbitrary: fc.constantFrom('late') },
        { weight: 1, arbitrary: fc.constantFrom(...commandKinds) },
      ),
      number: fc.nat(100_000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('watch'), wish }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refused'), index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('look'), index }) },
);

type Drawn<T> = T extends fc.Arbitrary<infer S> ? S : never;
export type PlainStep = Drawn<ReturnType<typeof plainStep>>;
export type CommandStep = Drawn<typeof command>;

export function plainSteps(backend: 'native' | 'tmux', count: number, from: number): PlainStep[] {
  return fc.sample(plainStep(backend === 'tmux' ? quietFlavours : flavours, anyColumns[backend]), {
    numRuns: count,
    seed: from,
  });
}

export function commandSteps(count: number, from: number): CommandStep[] {
  return fc.sample(command, { numRuns: count, seed: from });
}
