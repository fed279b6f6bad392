/** Promise 1 with random bytes, pieces, cuts and offsets: a reader always gets the plain byte string. */
import { fc } from '../harness/seed.ts';
import { showFigures } from '../harness/figures.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';

/** Text of one to four bytes per character, and invalid bytes, so that every cut can do damage. */
const output = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom('é', '€', '𝄞', '\ufeff', '\0').map((text) => Buffer.from(text)),
      fc.constant(Buffer.from('€'.repeat(30_000))), // More than one line holds.
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts))
  .filter((bytes) => bytes.length > 0);

const share = fc.double({ min: 0, max: 1, noNaN: true });
const runs = { numRuns: 40, endOnFailure: true };

interface Reading {
  readonly bytes: Buffer;
  readonly text: string;
}

/**
 * Reads a stream from an offset to its end, disconnecting after every few lines and resuming where the last one ended.
 */
async function readAll(
  sandbox: Sandbox,
  id: string,
  from: number,
  encoding: string,
  linesEach: number,
): Promise<Reading> {
  const bytes: Buffer[] = [];
  let text = '';
  let at = from;
  for (;;) {
    let lines = 0;
    for await (const line of sandbox.lines(`/v2/commands/${id}?stream=true&encoding=${encoding}&offset=${at}`)) {
      if (line['type'] === 'exit') return { bytes: Buffer.concat(bytes), text };
      if (line['type'] !== 'stdout') continue;
      expect(line['offset']).toBe(at);
      at = takeLine(line, bytes, (data) => (text += data));
      if (++lines === linesEach) break;
    }
  }
}

function takeLine(line: JsonObject, bytes: Buffer[], report: (text: string) => void): number {
  if (typeof line['data'] === 'string') report(line['data']);
  else bytes.push(Buffer.from(line['data_base64'] as string, 'base64'));
  return line['next'] as number;
}

function expectRead({ bytes, text }: Reading, written: Buffer, encoding: string): void {
  if (encoding === 'base64') expect(bytes.equals(written)).toBe(true);
  else expect(text).toBe(decoder.decode(written));
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

test('PROMISE-1 V2CMD-UTF8 V2CMD-RESUME any output in any pieces, read from any offset with any cuts, is complete', async ({
  sandbox,
}) => {
  await fc.assert(
    fc.asyncProperty(
      output,
      fc.array(share, { maxLength: 4 }),
      share,
      fc.constantFrom('utf-8', 'base64'),
      fc.integer({ min: 1, max: 3 }),
      async (whole, cuts, start, encoding, linesEach) => {
        const id = await sandbox.start({ command: 'cat', shell: 'none' });
        const live = readAll(sandbox, id, 0, encoding, linesEach);
        const places = [0, ...cuts.map((cut) => Math.floor(whole.length * cut)), whole.length].toSorted(
          (a, b) => a - b,
        );
        for (const [n, place] of places.slice(1).entries()) {
          const input = whole.subarray(places[n], place).toString('base64');
          await sandbox.ok(`POST /v2/commands/${id}/stdin`, { input_base64: input });
        }
        await sandbox.ok(`POST /v2/commands/${id}/stdin`, { eof: true });

        expectRead(await live, whole, encoding);
        const from = Math.floor(whole.length * start);
        expectRead(await readAll(sandbox, id, from, encoding, linesEach), whole.subarray(from), encoding);
        await sandbox.ok(`DELETE /v2/commands/${id}`);
      },
    ),
    runs,
  );
  showFigures({ streams: runs.numRuns });
});

test('PROMISE-1 any output, read in answers of any size from any offset, is complete', async ({ sandbox }) => {
  await fc.assert(
    fc.asyncProperty(output, share, fc.integer({ min: 1, max: 70_000 }), async (whole, start, limitBytes) => {
      const stdin = { data_base64: whole.toString('base64') };
      const { command_id: id } = await sandbox.run({ command: 'cat', shell: 'none', stdin });
      const from = Math.floor(whole.length * start);
      let text = '';
      for (let at = from; at < whole.length;) {
        const read = await sandbox.ok(
          `GET /v2/commands/${id}?offset=${at}&limit_bytes=${Math.max(limitBytes, whole.length >> 6)}`,
        );
        expect(read['offset']).toBeGreaterThan(at);
        expect(read['stdout']).toBe(decoder.decode(whole.subarray(at, read['offset'])));
        text += read['stdout'];
        at = read['offset'];
      }
      expect(text).toBe(decoder.decode(whole.subarray(from)));
    }),
    runs,
  );
  showFigures({ streams: runs.numRuns });
});
