/** Constructs the feed of activity, and fills it from commands and answered requests. */
import type { Command } from '../core/commands/command.ts';
import { ActivityFeed } from '../core/ops/activity.ts';
import type { ResponseFacts } from '../http/app.ts';

const firstFailure = 400;

export function composeActivity() {
  const feed = new ActivityFeed(Date.now());
  const factsOf = ({ note }: Command) => ({
    operation: 'commands.run',
    subject: note.id,
    command: [note.command, ...note.args].join(' '),
    account: note.user,
  });
  return {
    feed,
    onStart(command: Command) {
      feed.add({ kind: 'started', atMs: command.startedMs, ...factsOf(command) });
    },
    onEnd(command: Command) {
      const { status, exitCode, endedMs } = command.state;
      const atMs = endedMs ?? Date.now();
      const end = { outcome: status, exitCode, ms: atMs - command.startedMs };
      feed.add({ kind: 'ended', atMs, ...factsOf(command), ...end });
    },
    /** A call that only looks is no activity, and neither is a message of MCP that calls no tool. */
    onAnswer({ method, operation, requestId, status, subject, startedMs, ms, tool: note }: ResponseFacts) {
      const { account, tool, tool_outcome: toolOutcome } = note;
      if (operation === null || method === 'GET' || method === 'HEAD') return;
      if (operation === 'mcp.message' && tool === undefined) return;
      const outcome = toolOutcome ?? (status < firstFailure ? 'ok' : 'failed');
      const caller = {
        requestId,
        ...(account === undefined ? {} : { account }),
        ...(tool === undefined ? {} : { tool }),
      };
      feed.add({ kind: 'called', atMs: startedMs + ms, operation, subject, outcome, ms, ...caller });
    },
  };
}
