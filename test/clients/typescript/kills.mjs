/** Runs the loops of `kills-loops.mjs` in a runtime of its own. */
import { webcrypto } from 'node:crypto';
import { join } from 'node:path';
import { loops } from './kills-loops.mjs';

const [module, address, key, directory, name, seconds] = process.argv.slice(2);
const { Sandbox } = await import(module);
globalThis.crypto ??= webcrypto; // Node 18 has it as a module alone.
const { WebSocket = (await import(join(process.env.PACKAGES, 'node_modules/ws/wrapper.mjs'))).WebSocket } = globalThis;
const box = await Sandbox.connect(address, key, { WebSocket, retryMs: 30_000 });
console.log(JSON.stringify(['done', await loops(box, join(directory, name), Number(seconds))]));
