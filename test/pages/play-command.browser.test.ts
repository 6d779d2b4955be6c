/** The command that the playground copies prices the same when it is pasted into a shell. */
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { readPage, embedData } from "../../src/pages/page-file.ts";
import { eventLine, type Folder, folder, SMALL_BOOK } from "../cli/fake-io.ts";
import { DESK, openPage } from "../support/browser.ts";
import { examplePath, exampleText } from "../support/examples.ts";

const PROGRAM = resolve(import.meta.dirname, "../../dist/bin/ratebook.js");

let files: Folder;
let playground: string;
beforeAll(async () => {
  files = folder();
  playground = await readPage("play");
});
afterAll(() => files.remove());

/** Runs commands in the folder with the built program in place of an installed one. */
function runInShell(commands: string): string {
  const npx = `npx() { shift; "${process.execPath}" "${PROGRAM}" "$@" --format json; }\n`;
  return execFileSync("bash", ["-e"], { input: npx + commands, cwd: files.path, encoding: "utf8" });
}

function readTotals(json: string): readonly number[] {
  const { invoices } = JSON.parse(json) as { invoices: { revenueInfo: { value: number } }[] };
  return invoices.map(({ revenueInfo }) => revenueInfo.value);
}

test.each([
  ["typed usage", { usage: [{ of: "um.units", date: "2024-06-20", quantity: "3000" }], events: "" }],
  [
    "events with quotes and dollars",
    {
      usage: [],
      events: eventLine("it's-$HOME-`1`", "2024-06-20T00:00:00Z", 3000),
    },
  ],
])("%s", async (_, input) => {
  const book = `/* it's $(date)\nEND\n*/ ${JSON.stringify(SMALL_BOOK, null, 2)}`;
  const state = { book, from: "2024-06-01", until: "2024-07-01", ...input };
  const open = await openPage(embedData(playground, JSON.stringify({ state })), {
    ...DESK,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const { page } = open;
  await page.getByText("$3,050.00").first().waitFor();
  await page.getByRole("button", { name: "Copy as command" }).click();
  await page.getByText("Command copied.").waitFor();
  const commands = (await page.evaluate("navigator.clipboard.readText()")) as string;
  // 100 × 2 + 2,900 × 1 − 50
  expect(readTotals(runInShell(commands))).toEqual([3050]);
  await open.close();
});

test("a file with its map", async () => {
  const name = "AzureLLMInferenceTrace_code.csv";
  copyFileSync(examplePath("llm-api", name), join(files.path, name));
  const state = {
    book: exampleText("llm-api", "book.json"),
    usage: [],
    events: "",
    from: "2023-11-01",
    until: "2023-12-01",
  };
  const open = await openPage(embedData(playground, JSON.stringify({ state })), {
    ...DESK,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const { page } = open;
  await page
    .locator("input[type=file]")
    .setInputFiles([examplePath("llm-api", name), examplePath("llm-api", "code.map.json")]);
  await page.getByText("8,819 events, 4 invoices").waitFor();
  const shown = (await page.locator("tr.total .number").allInnerTexts()).map((text) =>
    Number(text.replaceAll(/[$,]/g, "")),
  );
  await page.getByRole("button", { name: "Copy as command" }).click();
  await page.getByText("Command copied.").waitFor();
  const commands = (await page.evaluate("navigator.clipboard.readText()")) as string;
  expect(readTotals(runInShell(commands))).toEqual(shown);
  await open.close();
});
