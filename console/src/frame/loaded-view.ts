/** Loads the script of a large view when a person first opens the view. */
import type { Sandbox } from '../../../clients/typescript/src/index.ts';

type ViewName = 'editor' | 'terminal';

const loaded = new Map<ViewName, unknown>();

/** Called by the script of a view, at its end. */
export function provideView(name: ViewName, view: unknown): void {
  dispatchEvent(new CustomEvent(name, { detail: view }));
}

/** Throws a BoxError when the daemon refuses the script. */
export async function loadView<View>(box: Sandbox, name: ViewName): Promise<View> {
  if (!loaded.has(name)) {
    const answer = await box.orThrow.open('operations.console_view', { path: { view: name } });
    run(name, await answer.text());
  }
  return loaded.get(name) as View;
}

/** The policy of the page has the digest of each script, so the browser runs nothing but what was built with the page. */
function run(name: ViewName, text: string): void {
  const onProvided = (event: Event) => loaded.set(name, (event as CustomEvent<unknown>).detail);
  addEventListener(name, onProvided, { once: true });
  const script = document.createElement('script');
  script.text = text;
  document.head.append(script);
  script.remove();
  removeEventListener(name, onProvided);
  if (!loaded.has(name)) throw new Error('The daemon has another version than this page. Reload the page.');
}
