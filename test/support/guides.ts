/** Guides that show a program and what it prints. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { vi } from "vitest";

const root = join(import.meta.dirname, "../..");

/** A guide of `docs`. */
export function guideOf(page: string): string {
  return readFileSync(join(root, "docs", page), "utf8");
}

/** The first block of a language in a guide. */
export function blockOf(guide: string, language: string): string {
  return new RegExp(`\`\`\`${language}\n([^]*?)\n\`\`\``).exec(guide)?.[1] ?? "";
}

/** The text of a program of `test/examples`. */
export function programOf(name: string): string {
  return readFileSync(join(root, "test/examples", name), "utf8");
}

/** Runs a program of `test/examples` in this process. @returns what it printed */
export async function printedBy(name: string): Promise<string> {
  const printed: string[] = [];
  const print = (part: unknown): string => (typeof part === "string" ? part : JSON.stringify(part));
  const spy = vi
    .spyOn(console, "log")
    .mockImplementation((...parts: readonly unknown[]) => void printed.push(parts.map(print).join(" ")));
  try {
    await import(pathToFileURL(join(root, "test/examples", name)).href);
  } finally {
    spy.mockRestore();
  }
  return printed.join("\n");
}
