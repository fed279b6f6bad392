/** `browser_gui_screenshot`: shows the whole display, on which the browser runs. */
import { z } from 'zod';
import { screenshot } from '../../desktop/routes.ts';
import { readsOnly, toolOf } from '../app.ts';
import { footer } from '../text.ts';

const type = 'image/png';

export const browserGuiScreenshot = toolOf({
  name: 'browser_gui_screenshot',
  title: 'Show the display',
  description: 'Take a picture of the display. Coordinates in it are those of browser_gui_execute_action.',
  annotations: readsOnly,
  output: z.object({ mime_type: z.string(), bytes: z.int() }),
  operation: screenshot.remote,
  read: () => ({ format: 'png' as const }),
  answer: ({ bytes }) => ({
    images: [{ bytes, type }],
    text: footer('the display', `${bytes.length} bytes`),
    data: { mime_type: type, bytes: bytes.length },
  }),
});
