/** Writes the version of the daemon where npm and Kubernetes look for it. */

/**
 * A manifest names the images of this version, because a tag without one keeps an old build on a node.
 * @returns the text of a package.json, of the lockfile or of a manifest, with the version in each place that is ours
 */
export function withVersion(text: string, version: string): string {
  return text
    .replaceAll(/("name": "boxkeep",\s+"version": ")[^"]+/g, `$1${version}`)
    .replaceAll(/(\bboxkeep\/\w+:)[\w.-]+/g, `$1${version}`);
}
