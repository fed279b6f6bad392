/** Tests that run for as many seconds or rounds as a variable says: by themselves in a soak, and in the proof. */

/** `soak`: the value of `npm run soak`; `proof`: that of `npm run proof`, which takes an hour with all of them. */
export const longerTests = {
  mixed: { path: 'test/promises/10-mixed-load.test.ts', variable: 'BOXKEEP_MIXED_SECONDS', soak: '300', proof: '120' },
  frameworks: { path: 'test/frameworks', variable: 'BOXKEEP_FRAMEWORK_ROUNDS', soak: '20', proof: '3' },
  kills: {
    path: 'test/conformance/client-kills.test.ts',
    variable: 'BOXKEEP_KILL_SECONDS',
    soak: '1800',
    proof: '300',
  },
  chaos: { path: 'test/soak/chaos.test.ts', variable: 'BOXKEEP_CHAOS_SECONDS', soak: '1200', proof: '600' },
  console: { path: 'test/soak/console-kills.test.ts', variable: 'BOXKEEP_CONSOLE_SECONDS', soak: '1800', proof: '60' },
};
