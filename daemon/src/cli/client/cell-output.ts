/** Writes the result of code: its streams and results, its traceback, and its pictures to files. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CodeResult, NotebookOutput } from '../../../../clients/typescript/src/wire.ts';
import { onThisMachine } from './local-files.ts';
import { say, standardError, standardOutput, writeAll } from './standard-streams.ts';

const pictureTypes = ['image/png', 'image/jpeg', 'image/svg+xml', 'image/gif', 'image/webp'];
const endings: Readonly<Record<string, string>> = { 'image/jpeg': 'jpg', 'image/svg+xml': 'svg' };

export class CellOutput {
  #pictures = 0;

  /** Without a directory, pictures are only mentioned. */
  constructor(private readonly directory: string | null) {}

  async write({ outputs, late_outputs: late, truncated }: CodeResult): Promise<void> {
    for (const output of [...late, ...outputs]) await this.#writeOne(output);
    if (truncated) await say('code: the output is longer than the daemon keeps, and was cut');
  }

  async #writeOne(output: NotebookOutput): Promise<void> {
    if (output.output_type === 'stream') {
      const descriptor = output.name === 'stderr' ? standardError : standardOutput;
      return await writeAll(descriptor, Buffer.from(output.text));
    }
    if (output.output_type === 'error') {
      const { ename, evalue, traceback } = output;
      const lines = traceback.length > 0 ? traceback : [`${ename}: ${evalue}`];
      return await writeAll(standardError, Buffer.from(`${lines.join('\n').trimEnd()}\n`));
    }
    const { data } = output;
    const type = pictureTypes.find((each) => typeof data[each] === 'string');
    if (type !== undefined) return await this.#savePicture(type, String(data[type]));
    const text = data['text/plain'];
    if (typeof text === 'string') await writeAll(standardOutput, Buffer.from(`${text.trimEnd()}\n`));
  }

  async #savePicture(type: string, content: string): Promise<void> {
    const { directory } = this;
    if (directory === null) return await say(`code: a picture (${type}) was not saved; --pictures DIR saves it`);
    const path = join(directory, `figure-${++this.#pictures}.${endings[type] ?? type.slice('image/'.length)}`);
    const bytes = Buffer.from(content, type === 'image/svg+xml' ? 'utf8' : 'base64');
    await onThisMachine(path, async () => {
      await mkdir(directory, { recursive: true });
      await writeFile(path, bytes);
    });
    await say(`code: saved ${path}`);
  }
}
