/** Uploads, downloads, directories and watches of the client. The test kills the daemon at each line `kill`. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [module, address, key, directory] = process.argv.slice(2);
const { Sandbox } = await import(module);
const show = (name, value) => console.log(JSON.stringify([name, value]));
const box = await Sandbox.connect(address, key);
const { files } = box.orThrow;
const at = (name) => join(directory, name);
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const isSame = (path, bytes) => sha256(readFileSync(path)) === sha256(bytes);
/** Kills the daemon once, in the middle of a transfer. */
const killAt = (bytes) => {
  let isKilled = false;
  return (done) => {
    if (isKilled || done < bytes) return;
    isKilled = true;
    show('kill', null);
  };
};

const content = randomBytes(60_000_000);
writeFileSync(at('local'), content, { mode: 0o700 });
const up = await files.upload(at('local'), at('remote'), {}, { onProgress: killAt(20_000_000) });
show('upload', [up.data.file_size, isSame(at('remote'), content), statSync(at('remote')).mode & 0o777]);
show('sources', [
  (await files.upload(new Blob([content]), at('of-blob'))).data.sha256 === sha256(content),
  (await files.upload(new Uint8Array([1, 2]), at('of-bytes'))).data.file_size,
  (await files.upload(new Uint8Array(0), at('empty'))).data.file_size,
  (await files.upload(new Blob([content]).stream(), at('of-stream'))).data.sha256 === sha256(content),
  (await files.upload(numbers(3), at('of-iterator'))).data.file_size,
]);
const once = await box.files.upload(numbers(8_000_000), at('of-once'), {}, { onProgress: killAt(2_000_000) });
show('once', [once.error?.code, once.error?.message, readdirSync(directory).includes('of-once')]);
const absent = await box.files.upload(at('absent'), at('x'));
show('absent', [absent.error.code, absent.error.message.includes('ENOENT'), readdirSync(directory).includes('x')]);
// The daemon may still be away.
const altered = new Sandbox(address, {
  ...{ key, retryMs: 30_000 },
  fetch: (url, init) => fetch(url, init.body instanceof ReadableStream ? { ...init, body: 'other' } : init),
});
show('altered', (await altered.files.upload(at('local'), at('y'))).error.code);
// An attempt that has failed gets a piece of its source while the next one sends.
let letGo;
const gate = new Promise((resolve) => (letGo = resolve));
let reads = 0;
const late = Object.assign(new Blob(['late']), {
  stream: () =>
    new ReadableStream({
      async pull(controller) {
        if (reads++ === 0) await gate;
        controller.enqueue(new TextEncoder().encode('late'));
        controller.close();
      },
    }),
});
let attempts = 0;
const breaking = new Sandbox(address, {
  ...{ key, retryMs: 30_000 },
  async fetch(url, init) {
    if (attempts++ === 0) throw new TypeError('fetch failed');
    letGo();
    await new Promise(setImmediate);
    return await fetch(url, init);
  },
});
show('late', (await breaking.files.upload(late, at('late'))).body?.data.file_size);

const progress = [];
const down = await files.download(at('remote'), {}, { onProgress: (bytes) => progress.push(bytes) });
show('download', [down.size, sha256(await down.bytes()) === sha256(content), progress.at(-1)]);
const broken = await files.download(at('remote'), {}, { onProgress: killAt(20_000_000) });
show('broken', sha256(await broken.bytes()) === sha256(content));
const controller = new AbortController();
const stop = (bytes) => bytes > 20_000_000 && controller.abort(new Error('enough'));
const stopped = await files.download(at('remote'), {}, { signal: controller.signal, onProgress: stop });
show('stopped', [await stopped.saveTo(at('saved')).catch(String), readdirSync(directory).includes('saved')]);
const resumed = [];
const again = await files.download(at('remote'), {}, { onProgress: (bytes) => resumed.push(bytes) });
await again.saveTo(at('saved'));
show('resumed', [resumed[0] > 20_000_000, isSame(at('saved'), content), statSync(at('saved')).mode & 0o777]);
show(
  'parts',
  readdirSync(directory).filter((name) => name.endsWith('part')),
);
show('small', [
  (await (await files.download(at('empty'))).bytes()).length,
  (await (await files.download('/proc/filesystems')).bytes()).length > 0,
  (await box.files.download(at('absent'))).error.code,
]);
const changed = await files.download(at('of-bytes'));
await files.write(at('of-bytes'), 'others');
show('changed', (await box.files.download(at('of-bytes'))).ok && (await changed.bytes().catch((error) => error.code)));

mkdirSync(at('tree/deep'), { recursive: true });
writeFileSync(at('tree/deep/big'), content);
writeFileSync(at('tree/ünï'), 'x', { mode: 0o755 });
symlinkSync('deep/big', at('tree/link'));
const packed = await files.uploadDirectory(at('tree'), at('there'), {}, { onProgress: killAt(20_000_000) });
show('directory up', [packed.data.entries, isSame(at('there/link'), content), statSync(at('there/ünï')).mode & 0o777]);
await files.downloadDirectory(at('there'), at('back'), { exclude: 'deep' });
show('directory down', [readdirSync(at('back')).sort(), statSync(at('back/ünï')).mode & 0o777]);
const unread = await box.files.uploadDirectory(at('absent'), at('z'));
show('directory absent', [unread.error.code, /tar failed: .*absent/.test(unread.error.message)]);
show('directory gone', (await box.files.downloadDirectory(at('absent'), at('back'))).error.code);

const watch = await files.watch(at('there'), { debounce: 50 });
writeFileSync(at('there/new'), 'x');
const changes = [];
for await (const { type, relative_path: path } of watch) {
  changes.push([type, path]);
  if (path === 'new') show('kill', null);
  if (type === 'lost') writeFileSync(at('there/newer'), 'x');
  if (path === 'newer') break;
}
show('changes', changes);
show('watchers', (await box.call('watch.list', {})).body.data.length);

async function* numbers(count) {
  for (let at = 0; at < count; at += 1_000_000) yield new Uint8Array(Math.min(count - at, 1_000_000));
}
