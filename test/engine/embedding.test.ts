/** The guide to embedding shows a program, and what it prints. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { afterEach, expect, test, vi } from "vitest";

const root = join(import.meta.dirname, "../..");
const program = join(root, "test/examples/embedded-server.mjs");
const guide = readFileSync(join(root, "docs/embedding.md"), "utf8");

function blockOf(language: string): string {
  return new RegExp(`\`\`\`${language}\n([^]*?)\n\`\`\``).exec(guide)?.[1] ?? "";
}

afterEach(() => {
  vi.restoreAllMocks();
});

test("the guide's program ingests, undoes, previews and finalizes, and prints what the guide says", async () => {
  const printed: string[] = [];
  const print = (part: unknown): string => (typeof part === "string" ? part : JSON.stringify(part));
  vi.spyOn(console, "log").mockImplementation(
    (...parts: readonly unknown[]) => void printed.push(parts.map(print).join(" ")),
  );
  await import(pathToFileURL(program).href);
  expect(printed.join("\n")).toBe(blockOf("text"));
  const source = readFileSync(program, "utf8");
  expect(source.replace("../../src/index.ts", "ratebook").trimEnd()).toBe(blockOf("js"));
});
