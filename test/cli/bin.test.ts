/** The built program as a separate process: exit codes, closed pipes, no stack traces. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Folder, folder, eventLine, SMALL_BOOK } from "./fake-io.ts";

const root = resolve(import.meta.dirname, "../..");
let buildFolder: string;
let files: Folder;
let book: string;

beforeAll(() => {
  // Below node_modules, so that the program finds its packages.
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  buildFolder = mkdtempSync(join(root, "node_modules/.cache/ratebook-"));
  writeFileSync(join(buildFolder, "package.json"), JSON.stringify({ type: "module", version: "0.0.1" }));
  execFileSync(process.execPath, [
    join(root, "node_modules/typescript/bin/tsc"),
    "-p",
    join(root, "src"),
    "--noCheck",
    "--outDir",
    join(buildFolder, "dist"),
  ]);
  files = folder();
  book = files.file("book.json", JSON.stringify(SMALL_BOOK));
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
  const child = spawn(process.execPath, [...nodeOptions, join(buildFolder, "dist/cli/bin.js"), ...argv]);
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

/** The files that the program loads: its own, below `dist`, and those of packages. */
async function loadedFiles(
  argv: readonly string[],
): Promise<{ readonly own: readonly string[]; readonly packages: readonly string[] }> {
  const hooks = `export async function load(url, context, next) {
    if (url.startsWith("file:")) process._rawDebug("loaded " + url);
    return next(url, context);
  }`;
  const register = `import { register } from "node:module"; register(${JSON.stringify(toModule(hooks))});`;
  const { code, err } = await program(argv, { nodeOptions: ["--import", toModule(register)] });
  expect(code).toBe(0);
  const urls = [...err.matchAll(/^loaded (.*)$/gm)].map(([, url = ""]) => url);
  const dist = `${pathToFileURL(join(buildFolder, "dist")).href}/`;
  const own = urls.filter((url) => url.startsWith(dist)).map((url) => url.slice(dist.length));
  expect(own).toContain("cli/bin.js");
  return { own, packages: urls.filter((url) => !url.startsWith(dist)) };
}

function toModule(text: string): string {
  return `data:text/javascript,${encodeURIComponent(text)}`;
}

describe("the built program", () => {
  test("prints the version of its package", async () => {
    expect(await program(["--version"])).toEqual({ code: 0, out: "0.0.1\n", err: "" });
  });

  test.each(["--help", "--version"])("%s loads at most 20 of its files, and no package", async (option) => {
    const { own, packages } = await loadedFiles([option]);
    expect(own.length).toBeLessThanOrEqual(20);
    expect(packages).toEqual([]);
  });

  test("check loads at most 100 of its files, and nothing that only other commands need", async () => {
    const { own } = await loadedFiles(["check", book]);
    expect(own.length).toBeLessThanOrEqual(100);
    const others = /^(?:analysis|engine|ledger|server|store|verify|warehouse)\//;
    expect(own.filter((file) => others.test(file))).toEqual([]);
    expect(own.filter((file) => file.startsWith("cli/commands/"))).toEqual(["cli/commands/check.js"]);
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
    const argv = [join(buildFolder, "dist/cli/bin.js"), "preview", book, "--format", "json"];
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
    const child = spawn(process.execPath, [join(buildFolder, "dist/cli/bin.js"), ...argv]);
    const ending = new Promise<number | null>((resolve) => {
      child.on("close", resolve);
    });
    let out = "";
    await new Promise<void>((listening, fail) => {
      child.stdout.on("data", (chunk: Buffer) => {
        out += chunk.toString();
        if (out.includes("listens on")) listening();
      });
      child.on("close", () => fail(new Error(out)));
    });
    child.kill(signal);
    expect(await ending).toBe(0);
    expect(out).toMatch(/^API key: rb_\w{43}\nratebook listens on http:\/\/127\.0\.0\.1:\d+ .*\n$/);
  });
});
