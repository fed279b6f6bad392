/** Runs the tools that pack and install a client, in the directory of one test file. */

/** What the tools keep in the directory for temporary files goes with the project. Returns what the tool prints. */
export function runIn(project: string, command: readonly string[], cwd = project): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd, env: { ...process.env, TMPDIR: project } });
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stdout.toString()}${stderr.toString()}`);
  return stdout.toString();
}
