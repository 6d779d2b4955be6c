/** The command that the playground copies prices the same when it is pasted into a shell. */
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join, resolve } from "node:path";

import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";

import { eventLine, folder } from "../cli/fake-io.ts";
import { DESK } from "../support/browser.ts";
import { examplePath, exampleText } from "../support/examples.ts";
import { chooseFiles, openPlayground, readTotals, SMALL, typeUnits } from "../support/playground.ts";

const files = folder();
afterAll(() => files.remove());

const PROGRAM = resolve(import.meta.dirname, "../../dist/bin/ratebook.js");

const CLIPBOARD = { ...DESK, permissions: ["clipboard-read", "clipboard-write"] };

/** Runs commands in the folder with the built program in place of an installed one. */
function runInShell(commands: string): string {
  const npx = `npx() { shift; "${process.execPath}" "${PROGRAM}" "$@" --format json; }\n`;
  return execFileSync("bash", ["-e"], { input: npx + commands, cwd: files.path, encoding: "utf8" });
}

/** The totals of the command that the page copies. */
async function runCopied(page: Page): Promise<readonly number[]> {
  await page.getByRole("button", { name: "Copy as command" }).click();
  await page.getByText("Command copied.").waitFor();
  const out = runInShell((await page.evaluate("navigator.clipboard.readText()")) as string);
  const { invoices } = JSON.parse(out) as { invoices: { revenueInfo: { value: number } }[] };
  return invoices.map(({ revenueInfo }) => revenueInfo.value);
}

test.each([
  ["typed usage", { usage: [typeUnits("3000")] }],
  ["events with quotes and dollars", { events: eventLine("it's-$HOME-`1`", "2024-06-20T00:00:00Z", 3000) }],
])("%s", async (_, input) => {
  const page = await openPlayground({ book: `/* it's $(date)\nEND\n*/ ${SMALL}`, ...input }, CLIPBOARD);
  await page.getByText("$3,050.00").first().waitFor();
  // 100 × 2 + 2,900 × 1 − 50
  expect(await runCopied(page)).toEqual([3050]);
});

test("a file with its map", async () => {
  const name = "AzureLLMInferenceTrace_code.csv";
  copyFileSync(examplePath("llm-api", name), join(files.path, name));
  const state = { book: exampleText("llm-api", "book.json"), from: "2023-11-01", until: "2023-12-01" };
  const page = await openPlayground(state, CLIPBOARD);
  await chooseFiles(page, examplePath("llm-api", name), examplePath("llm-api", "code.map.json"));
  await page.getByText("8,819 events, 4 invoices").waitFor();
  const shown = (await readTotals(page)).map((text) => Number(text.replaceAll(/[$,]/g, "")));
  expect(await runCopied(page)).toEqual(shown);
});
