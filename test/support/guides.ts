/** Pages of the documentation with their programs and commands. */
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { vi } from "vitest";

import { type Folder, ratebook } from "../cli/fake-io.ts";

const root = join(import.meta.dirname, "../..");

/** The text of a page of `docs`. */
export function readGuide(page: string): string {
  return readFileSync(join(root, "docs", page), "utf8");
}

/** The first code block of a language in a page. */
export function firstBlock(guide: string, language: string): string {
  return new RegExp(`\`\`\`${language}\n([^]*?)\n\`\`\``).exec(guide)?.[1] ?? "";
}

/** The text of a program, by its path in the project. */
export function readProgram(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/**
 * Runs a program of the project in this process.
 *
 * @returns its output
 */
export async function runProgram(path: string): Promise<string> {
  const chunks: string[] = [];
  const toText = (part: unknown): string => (typeof part === "string" ? part : JSON.stringify(part));
  const spy = vi
    .spyOn(console, "log")
    .mockImplementation((...parts: readonly unknown[]) => void chunks.push(parts.map(toText).join(" ")));
  try {
    await import(pathToFileURL(join(root, path)).href);
  } finally {
    spy.mockRestore();
  }
  return chunks.join("\n");
}

/** The commands of a shell block, and the output shown right below it. */
export interface CommandBlock {
  readonly commands: readonly string[];
  /** Undefined if the page shows no output. */
  readonly output: string | undefined;
}

/** The shell blocks of a page. Blocks marked `console` are not run. */
export function commandBlocks(guide: string): readonly CommandBlock[] {
  return [...guide.matchAll(/```sh\n([^]*?)\n```(?:\n\n```text\n([^]*?)\n```)?/g)].map(([, commands = "", output]) => ({
    commands: commands.replaceAll(/\\\n\s+/g, "").split("\n"),
    output,
  }));
}

/**
 * Runs a command of a page in a folder. Supports `npx ratebook`, `cp` from the package, `head`, and `node` with a
 * program.
 */
export async function runGuideCommand(command: string, folder: Folder): Promise<{ code: number; out: string }> {
  const [name = "", ...args] = command.split(" ");
  if (name === "cp") {
    const [, source = "", file = ""] = /node_modules\/ratebook\/(docs\/examples\/([\w.-]+))/.exec(command) ?? [];
    cpSync(join(root, source), join(folder.path, file), { recursive: true });
    return { code: 0, out: "" };
  }
  if (name === "head") {
    const [count = "", file = ""] = args;
    const lines = readFileSync(join(folder.path, file), "utf8").split(/\r?\n/);
    return { code: 0, out: lines.slice(0, Number(count.slice(1))).join("\n") };
  }
  if (name === "node") return { code: 0, out: await runProgram(join("docs/examples", args.join(" "))) };
  if (name !== "npx" || args[0] !== "ratebook") throw new Error(`a guide has an unsupported command: ${command}`);
  const argv = args
    .slice(1)
    .map((part) => (/^[\w./-]+\.(?:jsonc?|ndjson|csv|txt|svg|html)$/.test(part) ? join(folder.path, part) : part));
  // Without a directory, `init` writes to the current one.
  const directory = argv[0] === "init" ? [folder.path] : [];
  const { code, out } = await ratebook([...argv, ...directory]);
  return { code, out: out.replaceAll(`${folder.path}/`, "") };
}
