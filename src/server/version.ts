/** The version of the package. */
import { readFileSync } from "node:fs";

export function readPackageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String((manifest as { readonly version: unknown }).version);
}
