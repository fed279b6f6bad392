/** Messages that several 1.x routes share. */

export function startsElsewhere(asked: string, directory: string): { message: string; hint: string } {
  return {
    message: `exec_dir ${asked} cannot be entered; the session starts in ${directory}`,
    hint: 'Create the directory, then pass it as exec_dir of a command.',
  };
}
