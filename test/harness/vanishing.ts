/** Clients in a separate network that a test can cut, so that neither data nor connection ends arrive. */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import type { Subprocess } from 'bun';
import { until } from './until.ts';

/** Sends the given request and reads all answers. */
const client = 'exec 3<>"/dev/tcp/$0/$1"; printf "%s" "$2" >&3; exec cat <&3 >/dev/null';

export class VanishingClients implements AsyncDisposable {
  /** The address of this machine in the clients' network. */
  readonly address: string;
  readonly #link: string;
  readonly #there: string;
  readonly #holder: Subprocess<'ignore', 'ignore', 'ignore'>;
  readonly #clients: Subprocess<'ignore', 'ignore', 'inherit'>[] = [];

  constructor() {
    const number = randomInt(1, 0xffff);
    const network = `10.77.${number >> 8}.${number & 0xfc}`;
    this.#link = `sbxt${number.toString(16)}`;
    this.#there = `${this.#link}there`;
    this.address = after(network, 1);
    this.#holder = Bun.spawn(['unshare', '--net', 'sleep', '300'], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    });
    run('ip', 'link', 'add', this.#link, 'type', 'veth', 'peer', 'name', this.#there);
    run('ip', 'addr', 'add', `${this.address}/30`, 'dev', this.#link);
    run('ip', 'link', 'set', this.#link, 'up');
  }

  async connect(port: string, request: string): Promise<void> {
    if (this.#clients.length === 0) await this.#join();
    const options = { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' } as const;
    const inside = this.#inside('bash', '-c', client, this.address, port, request);
    this.#clients.push(Bun.spawn(inside, options));
  }

  /** Cuts the network from now on. */
  vanish(): void {
    run(...this.#inside('ip', 'route', 'add', 'blackhole', this.address));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#clients, this.#holder];
    for (const each of all) each.kill('SIGKILL');
    await Promise.all(all.map(({ exited }) => exited));
    spawnSync('ip', ['link', 'del', this.#link]); // The link may already be gone with the network of its other end.
  }

  async #join(): Promise<void> {
    const name = () => readlinkSync(`/proc/${this.#holder.pid}/ns/net`);
    await until('the clients have a network', () => name() !== readlinkSync('/proc/self/ns/net'));
    run('ip', 'link', 'set', this.#there, 'netns', `${this.#holder.pid}`);
    run(...this.#inside('ip', 'addr', 'add', `${after(this.address, 1)}/30`, 'dev', this.#there));
    run(...this.#inside('ip', 'link', 'set', this.#there, 'up'));
  }

  #inside(...command: string[]): string[] {
    return ['nsenter', '--target', `${this.#holder.pid}`, '--net', ...command];
  }
}

function run(program = '', ...args: string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
}

/** The address `count` after the given one. */
function after(address: string, count: number): string {
  const [a, b, c, d] = address.split('.');
  return [a, b, c, Number(d) + count].join('.');
}
