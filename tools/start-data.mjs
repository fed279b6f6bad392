/** The second example of `npm start`: a Python session reads a file and returns a table and a picture. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from './repository.mjs';

const session = 'sales';

const cells = [
  `import pandas as pd
sales = pd.read_csv("sales.csv", parse_dates=["month"])
print(len(sales), "rows from", sales["month"].min().date(), "to", sales["month"].max().date())
sales.groupby("region")["amount"].agg(["sum", "mean", "max"]).round(1)`,
  `by_month = sales.pivot(index="month", columns="region", values="amount")
ax = by_month.plot(figsize=(8, 4), title="Sales by region", ylabel="thousand")`,
];

/** Returns an exit code. */
export async function runDataDemo(client) {
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-example-'));
  const content = readFileSync(join(repositoryRoot, 'examples/sales/sales.csv'), 'utf8');
  console.log(`demo: puts sales.csv into ${directory}, and has a session of Python look at it`);
  await client.post('/v2/fs/write', { path: join(directory, 'sales.csv'), content });
  let pictures = 0;
  for (const code of cells) {
    console.log(`\n>>> ${code.replaceAll('\n', '\n... ')}\n`);
    const body = { language: 'python', session_id: session, cwd: directory, code };
    const { backend, duration_ms: ms, outputs, status } = await client.post('/v2/code/execute', body);
    for (const output of outputs) {
      const png = output.data?.['image/png'];
      if (output.output_type === 'stream') process.stdout.write(output.text);
      else if (png) {
        const path = join(directory, `figure-${++pictures}.png`);
        writeFileSync(path, Buffer.from(png, 'base64'));
        console.log(`[a picture: ${path}]`);
      } else console.log(output.data?.['text/plain'] ?? output.traceback.join('\n'));
    }
    console.log(`\ndemo: ${status} after ${Math.round(ms)} ms (${backend})`);
  }
  return pictures === 1 ? 0 : 1;
}

export function printDataHowTo({ url, hasKey }) {
  const curl = `curl -sS${hasKey ? ' -H "x-api-key: $SVC_API_KEY"' : ''}`;
  const body = JSON.stringify({ language: 'python', session_id: session, code: 'sales.describe()' });
  console.log('\nThe session is still there:');
  console.log(`  ${curl} ${url}/v2/code/execute -H 'content-type: application/json' -d '${body}'`);
}
