/** Says above a view what the sandbox lacks for it. */
import type { Sandbox } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import type { View } from './view.ts';

/** Empty where the sandbox has all that the view needs, and where the daemon does not say: the view reports that. */
export async function capabilityNote(box: Sandbox, { capability, title = '' }: View): Promise<HTMLElement | string> {
  if (capability === undefined) return '';
  const info = await box.info();
  if (!info.ok) return '';
  const { status = 'ready', missing = [], warnings = [] } = info.body.data.capabilities[capability] ?? {};
  if (status === 'ready') return '';
  const reasons = [...missing, ...warnings].map((reason) => element('li', {}, reason));
  const heading = status === 'absent' ? `${title}: not available in this sandbox` : `${title}: not everything works`;
  return element(
    'aside',
    { class: 'lacking', label: heading },
    element('strong', {}, heading),
    element('ul', {}, ...reasons),
  );
}
