/** What the README shows is what happens. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, expect, test, vi } from "vitest";

import packageJson from "../../package.json" with { type: "json" };
import { ratebook } from "../cli/fake-io.ts";
import { traceEvents, previewExample } from "../support/examples.ts";

const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
const llm = readFileSync(join(import.meta.dirname, "../../docs/examples/llm-api/README.md"), "utf8");

/** The fenced blocks of a language, in order. */
function blocks(language: string): readonly string[] {
  return [...readme.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\n\`\`\``, "g"))].map(([, text]) => text ?? "");
}

afterEach(() => {
  vi.restoreAllMocks();
});

test("the main command prints the invoice that the README shows, last of four", async () => {
  const [, , ...argv] = packageJson.scripts.preview.split(" ");
  const { code, out, err } = await ratebook(argv);
  expect(code).toBe(0);
  expect(out.trimEnd().split("\n\n").at(-1)).toBe(blocks("text")[1]);
  expect(readme).toContain(err.trim());
});

test("the README spells the main command out as package.json has it", () => {
  const spelled = blocks("sh").find((block) => block.startsWith("ratebook preview docs/"));
  const plain = (spelled ?? "").replaceAll(/\\\n\s+/g, "");
  expect(plain.replace(/^ratebook/, "node dist/cli/bin.js")).toBe(packageJson.scripts.preview);
  expect(llm).toContain(spelled);
});

test("the whole program prints what the README says", async () => {
  const printed: string[] = [];
  vi.spyOn(console, "log").mockImplementation((...parts: readonly unknown[]) => void printed.push(parts.join(" ")));
  await import("./first-program.ts");
  expect(printed.join("\n")).toBe(blocks("text")[0]);
  const source = readFileSync(join(import.meta.dirname, "first-program.ts"), "utf8");
  expect(source.replace("../../src/index.ts", "ratebook").trimEnd()).toBe(blocks("ts")[0]);
});

test("the shown invoice is the chat account's November", () => {
  const events = [...traceEvents("code", "contoso-code"), ...traceEvents("conv", "contoso-chat")];
  const last = previewExample("llm-api", events).invoices.at(-1);
  expect(blocks("text")[1]).toContain(`(${last?.accountId ?? ""})`);
  expect(blocks("text")[1]).toMatch(new RegExp(`USD +${last?.revenueInfo.value.toFixed(2) ?? ""}$`));
});
