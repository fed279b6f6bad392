/** Delegates snapshots, and actions on the refs of these snapshots, to an agent-browser CLI of the image. */
import { CoreError } from '../../../../kit/errors.ts';
import type { ToolOutcome, Tools } from '../../../processes/tool.ts';
import type { ClickSpec } from '../../actions/click.ts';
import type { Filled, FillSpec } from '../../actions/fill.ts';
import type { Place } from '../../actions/outcome.ts';
import type { Uploaded, UploadSpec } from '../../actions/upload.ts';
import type { Browser, CallEffects, PageCall, PageCallOptions, PageResult } from '../../browser.ts';
import { assertRef, staleRef } from '../../failures.ts';
import { knownPlace, type UrlAndTitle } from '../../place.ts';
import type { SnapshotAnswer, SnapshotSpec } from '../../snapshot/snapshot.ts';
import type { BrowserBackend } from '../backend.ts';
import { clickCommand, fillCommand, snapshotOptions, type Command } from './commands.ts';
import { snapshotTree } from './text.ts';

export interface AgentBrowserDeps {
  readonly browser: Browser;
  /** Acts on elements that have no ref of the CLI. */
  readonly cdp: BrowserBackend;
  /** The path of the CLI. */
  readonly program: string;
  readonly host: string;
  readonly port: number;
  readonly tools: Pick<Tools, 'run'>;
}

interface Answer {
  readonly success?: boolean;
  readonly error?: string | null;
  readonly missing?: 'tab' | 'ref';
  readonly data?: { readonly snapshot?: string; readonly refs?: Refs; readonly url?: string; readonly title?: string };
}

type Refs = Readonly<Record<string, unknown>>;

/** The options of a snapshot and the refs that it has given, as the CLI writes them. */
interface Snapshot {
  readonly options: string;
  readonly refs: Refs;
}

const limitBytes = 8 * 1024 * 1024;
/** The kernel passes at most 128 KiB in one argument. */
const maxArgumentBytes = 120 * 1024;
const maxSnapshots = 100;
/** The CLI leaves the files of a session behind, so names are used again. */
const sessions = 8;

/**
 * The CLI names tabs by numbers of its own, so the script looks for the URL. The CLI numbers the elements of each
 * snapshot, so the script takes the snapshot again and acts only if the ref still has its role and name.
 */
const script = `
program=$0 endpoint=$1 session=$2 tabs=$3 url=$4 options=$5 expected=$6
shift 6
ask() { "$program" --session "$session" --cdp "$endpoint" --json "$@"; }
ask get url > /dev/null || { ask get url; exit; }
trap 'ask close > /dev/null 2>&1' EXIT
tab=1
until case $(ask tab "t$tab") in *"$url"*) true ;; *) false ;; esac do
  tab=$((tab + 1))
  if [ "$tab" -gt "$tabs" ]; then echo '{"missing":"tab"}'; exit; fi
done
found=$(ask snapshot $options)
if [ $# -eq 0 ]; then printf '%s\\n' "$found"; exit; fi
case $found in *"$expected"*) ;; *) echo '{"missing":"ref"}'; exit ;; esac
ask "$@"
ask get url
ask get title
`;

/** The CLI reports none. */
const noEffects: CallEffects = { dialogs: [], openedTabs: [], downloads: [], omitted: 0 };

export class AgentBrowser implements BrowserBackend {
  readonly #snapshots = new Map<string, Snapshot>();
  #calls = 0;

  constructor(private readonly deps: AgentBrowserDeps) {}

  /** Throws `unavailable` when the CLI fails, `page_timeout` and `tab_not_found`. */
  async snapshot(spec: SnapshotSpec): Promise<PageResult<SnapshotAnswer>> {
    const options = snapshotOptions(spec);
    return await this.#onTab(spec, async (tab, call) => {
      const [answer] = await this.#run(call, tab, { options, expected: '', action: [] });
      const { snapshot: text = '', refs = {} } = this.#dataOf(answer, 'take a snapshot');
      this.#snapshots.delete(tab.tabId);
      this.#snapshots.set(tab.tabId, { options, refs });
      const [oldest] = this.#snapshots.keys();
      if (this.#snapshots.size > maxSnapshots && oldest !== undefined) this.#snapshots.delete(oldest);
      const content = spec.format === 'text' ? text : snapshotTree(text, tab.title);
      return { content, id: null, diffFrom: null, truncated: null, cuts: [] };
    });
  }

  async click(spec: ClickSpec): Promise<PageResult<Place>> {
    if (!('ref' in spec.element)) return await this.deps.cdp.click(spec);
    return await this.#act(spec, spec.element.ref, clickCommand(spec));
  }

  async fill(spec: FillSpec): Promise<PageResult<Filled>> {
    if (!('ref' in spec.element)) return await this.deps.cdp.fill(spec);
    const { value: place, effects } = await this.#act(spec, spec.element.ref, fillCommand(spec));
    return { value: { place, held: null }, effects };
  }

  async upload(spec: UploadSpec): Promise<PageResult<Uploaded>> {
    if (!('ref' in spec.element)) return await this.deps.cdp.upload(spec);
    const { value: place, effects } = await this.#act(spec, spec.element.ref, ['upload', ...spec.paths]);
    return { value: { place, files: null }, effects };
  }

  /** Throws as `snapshot`, and `ref_stale`. */
  async #act(spec: PageCallOptions, ref: string, [verb, ...values]: Command): Promise<PageResult<Place>> {
    const long = values.find((value) => Buffer.byteLength(value) > maxArgumentBytes);
    if (long !== undefined) {
      throw new CoreError('bad_argument', `agent-browser takes at most ${maxArgumentBytes} bytes in one value`);
    }
    assertRef(ref);
    return await this.#onTab(spec, async (tab, call) => {
      const known = this.#snapshots.get(tab.tabId);
      if (known?.refs[ref] === undefined) throw staleRef(ref);
      const expected = `${JSON.stringify(ref)}:${JSON.stringify(known.refs[ref])}`;
      const action = [verb, `@${ref}`, ...values];
      const [done, url, title] = await this.#run(call, tab, { options: known.options, expected, action });
      if (done?.missing === 'ref' || /unknown ref/i.test(done?.error ?? '')) throw staleRef(ref);
      this.#dataOf(done, `${verb} ${ref}`);
      const place = { url: url?.data?.url ?? tab.url, title: title?.data?.title ?? tab.title };
      return { tabId: tab.tabId, ...place, isClosed: false };
    });
  }

  /** Throws `unavailable` for a tab that the CLI cannot tell from another one. */
  async #onTab<T>(options: PageCallOptions, work: (tab: Tab, call: PageCall) => Promise<T>): Promise<PageResult<T>> {
    const { value } = await this.deps.browser.onPage(options, async (call) => {
      const tabs = call.browser.tabs();
      const { url, title } = knownPlace(call);
      if (tabs.filter((tab) => tab.url === url).length > 1) {
        throw new CoreError('unavailable', `agent-browser cannot tell the tabs apart that show ${url.slice(0, 200)}`, {
          isRetryable: false,
          hint: 'Close one of these tabs.',
          next: { operation: 'browser.listTabs' },
        });
      }
      return await work({ tabId: call.page.targetId, url, title, count: tabs.length + 5 }, call);
    });
    return { value, effects: noEffects };
  }

  async #run(
    { signal, timeoutMs: withinMs }: PageCall,
    tab: Tab,
    { options, expected, action }: ToolCall,
  ): Promise<readonly Answer[]> {
    const { program, host, port, tools } = this.deps;
    const isLocal = host === '127.0.0.1' || host === 'localhost';
    const endpoint = isLocal ? String(port) : `http://${host}:${port}`;
    const session = `boxkeep-${(this.#calls += 1) % sessions}`;
    const url = `"url":${JSON.stringify(tab.url)}`;
    const values = [endpoint, session, String(tab.count), url, options, expected, ...action];
    const outcome = await tools.run({
      argv: ['/bin/sh', '-c', script, program, ...values],
      withinMs,
      limitBytes,
      signal,
    });
    return this.#answersOf(outcome, withinMs);
  }

  #answersOf(outcome: ToolOutcome, withinMs: number): readonly Answer[] {
    if (outcome.kind === 'failed') throw this.#failure(`could not be started: ${outcome.message}`);
    if (outcome.kind === 'too_much') throw this.#failure(`wrote more than ${limitBytes} bytes`);
    if (outcome.kind === 'too_slow') {
      throw new CoreError('page_timeout', `agent-browser did not answer within ${withinMs / 1000} s`);
    }
    const decoder = new TextDecoder();
    const lines = decoder
      .decode(outcome.stdout)
      .split('\n')
      .filter((line) => line.startsWith('{'));
    if (lines.length > 0) return lines.map((line) => JSON.parse(line) as Answer);
    throw this.#failure(decoder.decode(outcome.stderr).trim().slice(0, 500) || 'answered nothing');
  }

  #dataOf(answer: Answer | undefined, what: string): NonNullable<Answer['data']> {
    if (answer?.missing === 'tab') throw this.#failure('does not find the tab');
    if (answer?.success !== true) throw this.#failure(`could not ${what}: ${answer?.error ?? 'no reason given'}`);
    return answer.data ?? {};
  }

  #failure(reason: string): CoreError {
    return new CoreError('unavailable', `agent-browser ${reason}`, {
      hint: `Check ${this.deps.program}, or unset SVC_AGENT_BROWSER_BIN for the backend of the daemon itself.`,
    });
  }
}

interface ToolCall {
  readonly options: string;
  readonly expected: string;
  readonly action: readonly string[];
}

interface Tab extends UrlAndTitle {
  readonly tabId: string;
  /** Tabs of the browser, with some room for new ones. */
  readonly count: number;
}
