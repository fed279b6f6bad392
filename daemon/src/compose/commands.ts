/** Constructs the objects that run commands. */
import type { Shared } from './shared.ts';
import { Commands, type CommandsDeps } from '../core/commands/commands.ts';
import { Launcher } from '../core/commands/launcher.ts';
import { LogBudget } from '../core/commands/log-budget.ts';
import { Sessions, type Session } from '../core/commands/sessions.ts';
import { UsedIds, type UsedId } from '../core/commands/used-ids.ts';
import { isDirectory } from '../platform/files/is-directory.ts';
import { LineFile } from '../platform/stores/line-file.ts';
import { FoundPrograms } from '../platform/process/programs.ts';
import { RecordStore } from '../platform/stores/record-store.ts';

export function composeCommands(shared: Shared, observer: Pick<CommandsDeps, 'onStart' | 'onEnd'>) {
  const { accounts, commandEnvironment, config, limits, logger, ownership, runtimeDirectory, scripts, spawn } = shared;
  const onFault = (what: string, error: unknown) =>
    logger.error('the runtime directory', { what, reason: String(error) });
  const budget = new LogBudget(limits);
  const sessions = new Sessions({
    store: new RecordStore<Session>({
      path: `${runtimeDirectory}/sessions.json`,
      what: 'sessions',
      ...{ onFault, ownership },
    }),
    maxSessions: config.maxCommandSessions,
    now: Date.now,
  });
  const launcher = new Launcher({
    spawn,
    accounts,
    findProgram: new FoundPrograms().find,
    isDirectory,
    environment: commandEnvironment,
    scripts,
    budget,
    keptBytes: () => commands.keptBytes(),
    now: Date.now,
  });
  const commands: Commands = new Commands({
    launcher,
    sessions,
    usedIds: new UsedIds(new LineFile<UsedId>(`${runtimeDirectory}/used-ids.ndjson`, onFault), Date.now, onFault),
    maxRunning: config.maxCommands,
    platform: process.platform,
    budget,
    onFault,
    ownership,
    ...observer,
    now: Date.now,
  });
  return { commands, sessions };
}
