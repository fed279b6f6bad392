/** A computer-use loop in the words of a model: bun computer-use.ts <address> <own | anthropic | openai> <file>. */
import { Sandbox, type DesktopActRequest } from 'boxkeep';

const [address = '', vocabulary = '', file = ''] = process.argv.slice(2);
const { desktop, files } = (await Sandbox.connect(address, process.env['SVC_API_KEY'])).orThrow;
const text = `echo ${vocabulary} > ${file}`;
const maxTurns = 20;

/** The same gestures as three kinds of models put them. The daemon takes each as it is. */
const actions: Readonly<Record<string, readonly DesktopActRequest[]>> = {
  own: [
    { action_type: 'CLICK', x: 100, y: 100 },
    { action_type: 'TYPING', text },
    { action_type: 'PRESS', key: 'Return' },
  ],
  anthropic: [
    { action: 'left_click', coordinate: [100, 100] },
    { action: 'type', text },
    { action: 'key', text: 'Return' },
  ],
  openai: [
    { type: 'click', x: 100, y: 100, button: 'left' },
    { type: 'type', text },
    { type: 'keypress', keys: ['ENTER'] },
  ],
};

/** Stands for your model: it gets a picture, and answers an action. Null ends the task. */
function model(turn: number, picture: Uint8Array): DesktopActRequest | null {
  return picture.length === 0 ? null : (actions[vocabulary]?.[turn] ?? null);
}

const changes = await files.watch(file.slice(0, file.lastIndexOf('/')));
for (let turn = 0; turn < maxTurns; turn += 1) {
  const { bytes, width, height } = (await desktop.screenshot({ format: 'jpeg' })).data;
  const action = model(turn, bytes);
  if (action === null) break;
  console.log(`${width}x${height} > ${JSON.stringify(action)}`);
  await desktop.act(action);
}
for await (const change of changes) if (change.type !== 'lost' && change.path === file) break;
console.log((await files.read(file)).data.content.trim());
