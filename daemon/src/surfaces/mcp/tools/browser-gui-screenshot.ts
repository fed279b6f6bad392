/** `browser_gui_screenshot`: shows the whole display, on which the browser runs. */
import { z } from 'zod';
import { readsOnly, tool } from '../app.ts';
import { askDisplay } from '../gui.ts';
import { footer } from '../text.ts';

export const browserGuiScreenshot = tool({
  name: 'browser_gui_screenshot',
  title: 'Show the display',
  description: 'Take a picture of the display. Coordinates in it are those of browser_gui_execute_action.',
  annotations: readsOnly,
  input: z.object({}),
  output: z.object({ mime_type: z.string(), bytes: z.number().int() }),
  async run(deps, _input, call) {
    const target = { method: 'GET', path: '/v2/computer/screenshot', query: { format: 'png' } } as const;
    const bytes = await (await askDisplay(deps, target, call)).bytes();
    const type = 'image/png';
    return {
      images: [{ bytes, type }],
      text: footer('the display', `${bytes.length} bytes`),
      data: { mime_type: type, bytes: bytes.length },
    };
  },
});
