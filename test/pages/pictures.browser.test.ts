/** The documentation's pictures of pages: `npm run pictures` takes them anew. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { folder, ratebook } from "../cli/fake-io.ts";
import { openPage } from "../support/browser.ts";
import { bookOfMany, planAt, usageOfMany } from "./many-accounts.ts";

const PICTURES = resolve(import.meta.dirname, "../../docs/pictures");
const VIEW = { viewport: { width: 1000, height: 780 } };

test("the report, with a draft", async () => {
  const files = folder();
  const { out } = await ratebook([
    "report",
    files.file("book.json", JSON.stringify(bookOfMany(200))),
    "--usage",
    files.file("usage.csv", usageOfMany(200)),
    "--plan",
    files.file("draft.json", JSON.stringify(planAt("pp.two", "0.8"))),
  ]);
  files.remove();
  const open = await openPage(out, VIEW);
  const picture = await open.page.screenshot();
  await open.close();
  const file = join(PICTURES, "report.png");
  if (process.env["RATEBOOK_PICTURES"] === "take") writeFileSync(file, picture);
  expect(existsSync(file)).toBe(true);
  // Fonts differ from machine to machine: what is compared is that the page is a picture of about as much.
  expect(picture.length / readFileSync(file).length).toBeGreaterThan(0.5);
  expect(picture.length).toBeLessThan(150_000);
});
