/** Links between the project's pages lead somewhere. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const pages = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file)),
].filter((page) => existsSync(join(root, page)));

describe.each(pages)("%s", (page) => {
  const text = readFileSync(join(root, page), "utf8");

  test("links only to files that are there", () => {
    const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target]) => target ?? "");
    expect(targets.filter((target) => !existsSync(resolve(root, dirname(page), target)))).toEqual([]);
  });

  test("speaks of the project alone", () => {
    expect(text).not.toMatch(/\/(?:work|tmp)\/|\.\.\/shared/);
  });
});
