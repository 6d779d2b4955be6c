/** The size of parts of the built library in a browser: bundled, minified, gzipped. */
import { gzipSync } from "node:zlib";

import { build } from "esbuild";

import type { Bench } from "../bench.ts";

/** A typical bundle. */
export interface BundleCase {
  /** The imports from the package's root. */
  readonly names: readonly string[];
  /** The maximum in kilobytes of 1,000 bytes. */
  readonly gzippedMax: number;
}

/**
 * The bundles with a size limit, smallest first. Limits are 1 % above the current size. `preview` includes the reader of
 * books with zod.
 */
export const BUNDLES: readonly BundleCase[] = [
  { names: ["priceQuantity"], gzippedMax: 17 },
  { names: ["preview"], gzippedMax: 157 },
];

/** The size of a bundle with these exports of the root, in kilobytes. */
export async function gzippedKilobytes(names: readonly string[]): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${names.join(", ")} } from "./dist/index.js";`, resolveDir: process.cwd() },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
  });
  return gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length / 1000;
}

export const packageBenches: readonly Bench[] = [
  {
    name: "package: sizes in a browser",
    async run() {
      const lines: string[] = [];
      for (const { names, gzippedMax } of BUNDLES) {
        const size = await gzippedKilobytes(names);
        lines.push(`${names.join(" and ")}: ${size.toFixed(1)} kB gzipped (at most ${gzippedMax})`);
      }
      return lines;
    },
  },
];
