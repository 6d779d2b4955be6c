/** The licenses of bundled packages. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/**
 * Writes `third-party-notices.txt` into a folder of bundles.
 *
 * @param inputs the paths of all bundled files
 */
export function writeNotices(folder: URL, inputs: readonly string[]): void {
  const names = inputs.flatMap((path) => /.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  const notices = [...new Set(names)].toSorted().map((name) => {
    const text = readLicense(new URL(`../../node_modules/${name}/`, import.meta.url));
    return `The files in this folder contain parts of ${name}, under this license:\n\n${text}`;
  });
  writeFileSync(new URL("third-party-notices.txt", folder), notices.join("\n"));
}

/** A package's license text, or its name if it has none. */
function readLicense(folder: URL): string {
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file !== undefined) return readFileSync(new URL(file, folder), "utf8");
  const { license, author } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as Record<
    string,
    string
  >;
  return `${license} (https://spdx.org/licenses/${license}.html), by ${author}\n`;
}
