/** Parses YAML with the parser of the runtime, which bounds aliases and nesting. */

/** Throws an Error whose message names the problem. */
export function parseYaml(text: string): unknown {
  return Bun.YAML.parse(text);
}
