/** Evaluates an expression in a page and returns its value as JSON. */
import { advise } from '../../kit/advice.ts';
import { CdpRefusal, CdpTooLong } from '../../protocols/cdp-errors.ts';
import { CoreError } from '../../kit/errors.ts';
import { type JsonBounds, outOfBounds } from '../../kit/text/json-bounds.ts';
import type { CdpResult } from '../../platform/clients/cdp-connection.ts';
import type { Browser, PageCall, PageCallOptions, PageResult } from './browser.ts';
import { shortened } from './url.ts';

export interface EvaluateSpec extends PageCallOptions {
  readonly expression: string;
  readonly awaitsPromise: boolean;
}

export interface Evaluated {
  /** Null for undefined; the text of a number that JSON does not have, such as NaN. */
  readonly value: unknown;
  /** The result of `typeof`. */
  readonly type: string;
}

type RemoteObject = CdpResult<'Runtime.evaluate'>['result'];

/** Characters of the value as JSON. */
const maxCharacters = 16 * 1024 * 1024;

/** Throws `bad_argument` for an expression that throws, and for a value that has no JSON. */
export async function evaluate(
  browser: Browser,
  { expression, awaitsPromise, ...options }: EvaluateSpec,
): Promise<PageResult<Evaluated>> {
  return await browser.onPage(options, async (call) => {
    const { page, signal, timeoutMs } = call;
    // The browser stops a script a little before the call ends, so that the page can be used again.
    const timeout = timeoutMs * 0.9;
    const parameters = { expression, awaitPromise: awaitsPromise, userGesture: true, timeout };
    // The mode of consoles permits `await` outside a function, and a second declaration of a name.
    const answer = await stopped(
      call,
      page.session.send('Runtime.evaluate', { ...parameters, replMode: true }, signal),
    );
    const result = await settled(call, resultOf(answer), awaitsPromise);
    if (result.type !== 'function') return await valueOf(browser, call, result);
    const { objectId } = result;
    if (objectId === undefined) throw withoutJson('a function');
    const functionDeclaration = 'function () { return this(); }';
    const called = page.session.send(
      'Runtime.callFunctionOn',
      { objectId, functionDeclaration, awaitPromise: awaitsPromise, userGesture: true },
      signal,
    );
    return await valueOf(browser, call, resultOf(await stopped(call, called)));
  });
}

/** A console does not wait for a promise that is the value of an expression. */
async function settled(call: PageCall, result: RemoteObject, awaitsPromise: boolean): Promise<RemoteObject> {
  const { subtype, objectId: promiseObjectId } = result;
  if (!awaitsPromise || subtype !== 'promise' || promiseObjectId === undefined) return result;
  const { page, signal } = call;
  return resultOf(await stopped(call, page.session.send('Runtime.awaitPromise', { promiseObjectId }, signal)));
}

/** The browser ends a script that exceeds its time, and refuses the command with one of these reasons. */
async function stopped<T>({ timeoutMs }: PageCall, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof CdpTooLong)
      throw new CoreError('bad_argument', error.message, { hint: 'Return a part of it.' });
    if (!(error instanceof CdpRefusal && /terminated|internal error/i.test(error.message))) throw error;
    throw new CoreError('page_timeout', `the script was stopped after ${timeoutMs / 1000} s`, {
      hint: 'Pass a script that ends sooner.',
      advice: advise`Or pass a longer ${'timeout'}.`,
    });
  }
}

function resultOf({ result, exceptionDetails }: CdpResult<'Runtime.evaluate'>): RemoteObject {
  if (!exceptionDetails) return result;
  const { exception, text } = exceptionDetails;
  const thrown = exception?.description ?? (exception && 'value' in exception ? String(exception.value) : text);
  throw new CoreError('bad_argument', `the expression threw ${thrown.slice(0, 2000)}`);
}

async function valueOf(browser: Browser, { page, signal }: PageCall, result: RemoteObject): Promise<Evaluated> {
  const { type, subtype, value, unserializableValue, objectId } = result;
  // The page chooses the names of classes and the message of an exception.
  const description = shortened(result.description ?? '');
  if (type === 'symbol') throw withoutJson('a symbol');
  if (subtype === 'node')
    throw withoutJson(`the DOM node ${description}`, 'Return a property of it, such as outerHTML.');
  if (type === 'string') assertLength(String(value).length);
  if (unserializableValue !== undefined) return { value: unserializableValue.replace(/n$/, ''), type };
  if (objectId === undefined) return { value: value ?? null, type };
  const { result: text, exceptionDetails } = await page.session.send(
    'Runtime.callFunctionOn',
    { objectId, functionDeclaration: toJson, arguments: [{ value: maxCharacters }], returnByValue: true },
    signal,
  );
  if (exceptionDetails) {
    throw withoutJson(
      `${description || type}`,
      shortened(exceptionDetails.exception?.description?.split('\n')[0] ?? '') || null,
    );
  }
  if (typeof text.value === 'number') assertLength(text.value);
  return { value: text.value === null ? null : parsed(text.value, browser.answerBounds), type };
}

/** `json` is text, unless the page has replaced JSON.stringify. */
function parsed(json: unknown, bounds: JsonBounds): unknown {
  const problem = outOfBounds(String(json), bounds);
  if (problem !== null) throw new CoreError('bad_argument', `the value ${problem}`, { hint: 'Return a part of it.' });
  try {
    if (typeof json === 'string') return JSON.parse(json);
  } catch {
    // The page has chosen the text.
  }
  throw withoutJson('of a page with a JSON.stringify of its own', 'Return a text or a number.');
}

/** Runs in the page: the JSON, the length of a JSON that is too long, null for undefined, and false for anything else. */
const toJson = `function (limit) {
  const json = JSON.stringify(this);
  if (json === undefined) return null;
  if (typeof json !== 'string') return false;
  return json.length > limit ? json.length : json;
}`;

function assertLength(length: number): void {
  if (length <= maxCharacters) return;
  const limit = `the limit is ${maxCharacters}`;
  throw new CoreError('bad_argument', `the value has ${length} characters as JSON, and ${limit}`, {
    hint: 'Return a part of it.',
  });
}

function withoutJson(what: string, hint: string | null = null): CoreError {
  return new CoreError('bad_argument', `the value of the expression is ${what}, which has no JSON`, { hint });
}
