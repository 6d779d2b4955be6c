/** Pages never stay blank, whatever the reader's locale and even if a script fails. */
import { readFileSync } from "node:fs";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { pageFile } from "../../src/pages/page-file.ts";
import { embedData } from "../../src/pages/self-contained-page.ts";
import { type Folder, folder } from "../cli/fake-io.ts";
import { DESK, expectSound, openPage } from "../support/browser.ts";
import { reportOfMany } from "./many-accounts.ts";

let files: Folder;
let manyAccounts: string;
beforeAll(async () => {
  files = folder();
  manyAccounts = readFileSync(await reportOfMany(files, 3), "utf8");
});
afterAll(() => files.remove());

const play = (): string => readFileSync(pageFile("play"), "utf8");
const report = (data: string): string => embedData(readFileSync(pageFile("report"), "utf8"), data);

describe.each(["en-US@posix", "de-DE", "fr-FR", "ar-EG", "ja-JP"])("in the locale %s", (locale) => {
  test("the playground and the report show their invoices", async () => {
    for (const html of [play(), manyAccounts]) {
      const open = await openPage(html, { ...DESK, locale });
      await expect.poll(() => open.page.getByRole("heading", { level: 1 }).count()).toBe(1);
      expect(await open.page.evaluate("navigator.language")).toBe(locale);
      await expectSound(open);
      await open.close();
    }
  });
});

test("a page whose script fails says why", async () => {
  const open = await openPage(report("null"));
  expect(await open.page.getByRole("alert").innerText()).toMatch(
    /^This page has an error and may be incomplete: TypeError/,
  );
  await open.close();
});
