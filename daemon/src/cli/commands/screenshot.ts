/** `boxkeep screenshot`: saves a picture of the desktop, or of the page in the browser. */
import { writeFile } from 'node:fs/promises';
import type { Picture } from '../../../../clients/typescript/src/index.ts';
import { Client } from '../client/client.ts';
import { ClientFailure } from '../client/failure.ts';
import { onThisMachine } from '../client/local-files.ts';
import { print, standardOutput, writeAll } from '../client/standard-streams.ts';
import { connectionHelp } from '../page.ts';
import type { Verb } from '../verb.ts';

export const screenshot: Verb = {
  usage: 'screenshot [url] [file]',
  summary: 'save a picture of the desktop or of a page',
  flags: {
    '--page': 'of the page in the browser; otherwise of the desktop',
    '--scale WIDTHxHEIGHT': 'fit the picture into this size, such as 640x400',
    '--json': 'print file, type and sizes as JSON',
  },
  details: `The file is screenshot.png without a name; - is standard output. The end of the name is the format: png, jpg or jpeg, and
webp of the desktop.
${connectionHelp}`,
  optionalWords: 1,

  async run(given, environment) {
    const [file = 'screenshot.png'] = given.words;
    const isOutput = file === '-';
    if (isOutput && given.has('json')) throw new ClientFailure('--json and - both write to standard output');
    const scale_to = given.value('scale');
    const fields = scale_to === null ? {} : { scale_to };
    const format = isOutput ? 'png' : formatOf(file, given.has('page'));
    const { desktop, browser } = new Client(given, environment).sandbox.orThrow;
    const { data } = given.has('page')
      ? await browser.screenshot({ ...fields, format: format as 'png' })
      : await desktop.screenshot({ ...fields, format });
    if (isOutput) await writeAll(standardOutput, data.bytes);
    else await onThisMachine(file, () => writeFile(file, data.bytes));
    if (!isOutput) await print(given.has('json') ? asJson(file, data) : `${file}: ${sizeOf(data)}`);
    return 0;
  },
};

type Format = 'png' | 'jpg' | 'jpeg' | 'webp';

function formatOf(file: string, isPage: boolean): Format {
  const formats: readonly Format[] = isPage ? ['png', 'jpg', 'jpeg'] : ['png', 'jpg', 'jpeg', 'webp'];
  const found = formats.find((format) => file.toLowerCase().endsWith(`.${format}`));
  if (!found) throw new ClientFailure(`the name of the file ends with .${formats.join(', .')}`);
  return found;
}

function sizeOf({ width, height, bytes }: Picture): string {
  return `${width}x${height}, ${bytes.length} bytes`;
}

function asJson(file: string, { type, width, height, screenWidth, screenHeight, bytes }: Picture): string {
  const size = { width, height, screen_width: screenWidth, screen_height: screenHeight, bytes: bytes.length };
  return JSON.stringify({ file, type, ...size });
}
