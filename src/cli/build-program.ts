/** Bundles the command line with the packages it uses, so that it starts quickly: zod alone is a hundred files. */
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { build, type Metafile } from "esbuild";

/** The root of the package, relative to both `src` and `dist`. */
const ROOT = new URL("../../", import.meta.url);

/** Packages in CommonJS: they call `require`, which a bundle in ESM doesn't have. */
const COMMONJS_PACKAGES = ["cli-progress", "cli-table3"];

/**
 * Bundles the program into `ratebook.js` and a file for each part that only some commands load. Optional and peer
 * dependencies are not bundled: they may be missing, and some contain native code.
 *
 * @param folder is emptied first; two levels below the root of the package, as the folders of `dist` are
 */
export async function bundleProgram(folder: string): Promise<Metafile> {
  const { optionalDependencies, peerDependencies } = JSON.parse(
    readFileSync(new URL("package.json", ROOT), "utf8"),
  ) as Readonly<Record<"optionalDependencies" | "peerDependencies", object>>;
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: { ratebook: fileURLToPath(new URL("src/cli/bin.ts", ROOT)) },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    charset: "utf8",
    // Smaller files that load sooner, with the names and lines that stack traces show.
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 120,
    legalComments: "none",
    outdir: folder,
    metafile: true,
    tsconfigRaw: {},
    external: [...COMMONJS_PACKAGES, ...Object.keys({ ...optionalDependencies, ...peerDependencies })],
  });
  return metafile;
}
