/** Fifteen tasks on a desktop, completed in four vocabularies of actions through the daemon. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'bun:test';
import { desktopTasks } from '../harness/desktop-tasks.ts';
import { vocabularies } from '../harness/desktop-vocabularies.ts';
import { hangMs } from '../harness/fair-clock.ts';
import { DesktopUser, TaskDesktop } from '../harness/task-desktop.ts';

/** A directory for pictures of the finished tasks. They are not kept when the variable is not set. */
const pictures = process.env['BOXKEEP_PICTURES'];

let desktop: TaskDesktop;

beforeAll(async () => {
  desktop = await TaskDesktop.start();
}, hangMs);
afterAll(async () => {
  await desktop[Symbol.asyncDispose]();
}, hangMs);

for (const [index, { what, complete }] of desktopTasks.entries()) {
  for (const vocabulary of vocabularies) {
    test(
      `DESK-1 DESK-3 ${what}, with ${vocabulary.name}`,
      async () => {
        await using user = new DesktopUser(desktop, vocabulary);
        try {
          await complete(user);
        } finally {
          const name = `${String(index + 1).padStart(2, '0')}-${vocabulary.name.replace(' ', '-')}.png`;
          if (pictures) writeFileSync(join(pictures, name), await desktop.screenshot());
        }
      },
      hangMs,
    );
  }
}
