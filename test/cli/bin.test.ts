/** The built program as a separate process: exit codes, closed pipes, no stack traces. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import type { Metafile } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { bundleProgram } from "../../src/cli/build-program.ts";
import { eventLine, type Folder, folder, SMALL_BOOK } from "./fake-io.ts";

const root = resolve(import.meta.dirname, "../..");
let buildFolder: string;
let outputs: Metafile["outputs"];
let files: Folder;
let book: string;

beforeAll(async () => {
  // Below node_modules, so that the program finds its packages.
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  buildFolder = mkdtempSync(join(root, "node_modules/.cache/ratebook-"));
  writeFileSync(join(buildFolder, "package.json"), JSON.stringify({ type: "module", version: "0.0.1" }));
  ({ outputs } = await bundleProgram(join(buildFolder, "dist/bin")));
  files = folder();
  book = files.file("book.json", SMALL_BOOK);
});
afterAll(() => {
  rmSync(buildFolder, { recursive: true, force: true });
  files.remove();
});

interface Exit {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs the program.
 *
 * @param nodeOptions options of Node
 * @param readMax closes the pipe after this many bytes of output
 */
async function program(
  argv: readonly string[],
  { stdin = "", readMax = Infinity, nodeOptions = [] as readonly string[] } = {},
): Promise<Exit> {
  const child = spawn(process.execPath, [...nodeOptions, join(buildFolder, "dist/bin/ratebook.js"), ...argv]);
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    if (out.length > readMax) child.stdout.destroy();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(stdin);
  const code = await new Promise<number | null>((resolve) => {
    child.on("close", resolve);
  });
  return { code, out, err };
}

/** The files that the program loads, which are all in the bundle, and those of `src` and of packages that they contain. */
async function loadedFiles(
  argv: readonly string[],
): Promise<Readonly<Record<"files" | "sources" | "packages", readonly string[]>>> {
  const hooks = `export async function load(url, context, next) {
    if (url.startsWith("file:")) process._rawDebug("loaded " + url);
    return next(url, context);
  }`;
  const register = `import { register } from "node:module"; register(${JSON.stringify(toModule(hooks))});`;
  const { code, err } = await program(argv, { nodeOptions: ["--import", toModule(register)] });
  expect(code).toBe(0);
  const files = [...err.matchAll(/^loaded (.*)$/gm)].map(([, url = ""]) => relative(".", fileURLToPath(url)));
  expect(files.filter((file) => outputs[file] === undefined)).toEqual([]);
  const inputs = files.flatMap((file) => Object.entries(outputs[file]?.inputs ?? {}));
  const contents = inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput === 0 ? [] : [path]));
  const sources = contents.filter((path) => path.startsWith("src/")).map((path) => path.slice("src/".length));
  expect(sources).toContain("cli/bin.ts");
  return { files, sources, packages: contents.filter((path) => !path.startsWith("src/")) };
}

function toModule(text: string): string {
  return `data:text/javascript,${encodeURIComponent(text)}`;
}

describe("the built program", () => {
  test("prints the version of its package", async () => {
    expect(await program(["--version"])).toEqual({ code: 0, out: "0.0.1\n", err: "" });
  });

  test.each(["--help", "--version"])("%s loads at most 12 files, and no package", async (option) => {
    const { files, packages } = await loadedFiles([option]);
    expect(files.length).toBeLessThanOrEqual(12);
    expect(packages).toEqual([]);
  });

  test("check loads at most 25 files, and nothing that only other commands need", async () => {
    const { files, sources } = await loadedFiles(["check", book]);
    expect(files.length).toBeLessThanOrEqual(25);
    expect(sources.length).toBeLessThanOrEqual(90);
    const others = /^(?:analysis|engine|ledger|server|store|verify|warehouse)\//;
    expect(sources.filter((file) => others.test(file))).toEqual([]);
    expect(sources.filter((file) => file.startsWith("cli/commands/"))).toEqual(["cli/commands/check.ts"]);
  });

  test("exits with 0, 1 and 2, and without a stack trace", async () => {
    const good = await program(["preview", book, "--events", "-"], {
      stdin: eventLine("a", "2024-01-01T00:00:00Z", 1),
    });
    const bad = await program(["preview", book, "--events", "-"], { stdin: "nonsense\n" });
    const wrong = await program(["preview", book, "--evnts", "-"]);
    expect([good.code, bad.code, wrong.code]).toEqual([0, 1, 2]);
    expect(`${good.err}${bad.err}${wrong.err}`).not.toContain("    at ");
  });

  test("reads data that was written to a named pipe before it opened it", async () => {
    const pipe = join(files.path, "pipe.ndjson");
    execFileSync("sh", ["-c", 'mkfifo "$0"', pipe]);
    const write = `require("node:fs").writeFileSync(process.argv[1], process.argv[2])`;
    const writer = spawn(process.execPath, ["-e", write, pipe, eventLine("a", "2024-01-01T00:00:00Z", 1)]);
    const { code, err } = await program(["preview", book, "--events", pipe]);
    writer.kill();
    expect(err).toBe("1 event read: 1 metered; 1 invoice\n");
    expect(code).toBe(0);
  });

  test("ends quietly when the reader of its output closes the pipe", async () => {
    const argv = ["preview", book, "--from", "2024-01-01", "--until", "2090-01-01", "--format", "csv"];
    const { code, err } = await program(argv, { readMax: 1000 });
    expect(err).not.toMatch(/EPIPE|    at |fault/);
    expect(code).toBe(0);
  });

  test("reports that standard output can't be written when its disk is full, and exits with 1", async () => {
    const argv = [join(buildFolder, "dist/bin/ratebook.js"), "preview", book, "--format", "json"];
    const full = await open("/dev/full", "w");
    const child = spawn(process.execPath, argv, { stdio: ["ignore", full.fd, "pipe"] });
    let err = "";
    child.stderr?.on("data", (chunk: Buffer) => (err += chunk.toString()));
    const [code] = (await once(child, "close")) as [number];
    await full.close();
    expect(err).toContain("ratebook: cannot write to standard output: ENOSPC");
    expect(code).toBe(1);
  });

  test.each(["SIGTERM", "SIGINT"] as const)("serves until %s, and exits with 0", async (signal) => {
    const argv = ["serve", "--port", "0", "--database", "memory"];
    const child = spawn(process.execPath, [join(buildFolder, "dist/bin/ratebook.js"), ...argv]);
    const ending = new Promise<number | null>((resolve) => {
      child.on("close", resolve);
    });
    let out = "";
    await new Promise<void>((listening, fail) => {
      child.stdout.on("data", (chunk: Buffer) => {
        out += chunk.toString();
        if (out.includes("Listening on")) listening();
      });
      child.on("close", () => fail(new Error(out)));
    });
    child.kill(signal);
    expect(await ending).toBe(0);
    expect(out).toMatch(/^API key: rb_\w{43}\nListening on http:\/\/127\.0\.0\.1:\d+ .*\n$/);
  });
});
