/**
 * Runs the unit, store and page tests on a release line of Node: `npm run test:node -- 24`. The npm package `node`
 * contains its binary; it is installed into a temporary folder.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const [line = ""] = process.argv.slice(2);
if (!/^\d+(?:\.\d+){0,2}$/.test(line)) {
  console.error("Expected a release line of Node, such as 24: npm run test:node -- 24");
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), "ratebook-node-"));
try {
  writeFileSync(join(folder, "package.json"), '{ "private": true, "allowScripts": { "node": true } }\n');
  run("npm", ["install", `node@${line}`, "--prefix", folder, "--no-audit", "--no-fund", "--loglevel", "error"]);
  const bin = join(folder, "node_modules", "node", "bin");
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"]}` };
  run("node", ["--version"], env);
  const vitest = [join("node_modules", "vitest", "vitest.mjs"), "run"];
  run("node", [...vitest, "--project", "unit", "--project", "pages"], env);
  run("node", [...vitest, "--project", "processes", "test/store"], env);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Runs a command with this process's output; exits with its status if it fails. */
function run(command, args, env = process.env) {
  const { status } = spawnSync(command, args, { stdio: "inherit", env });
  if (status === 0) return;
  rmSync(folder, { recursive: true, force: true });
  process.exit(status ?? 1);
}
