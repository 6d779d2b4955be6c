/** The commands of the guides run as printed, page by page in a separate folder, and print the output shown. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import packageJson from "../../package.json" with { type: "json" };
import { folder, ratebook } from "../cli/fake-io.ts";
import { commandBlocks, readGuide, runGuideCommand } from "../support/guides.ts";

const root = join(import.meta.dirname, "../..");
const readme = readFileSync(join(root, "README.md"), "utf8");

describe.each([
  ["guide/install.md", 1],
  ["guide/first-invoice.md", 1],
  ["guide/plans.md", 1],
  ["guide/price-tables.md", 2],
  ["guide/metering.md", 1],
  ["guide/aggregations.md", 1],
  ["guide/credits-and-entitlements.md", 1],
  ["guide/previews-and-price-changes.md", 6],
  ["guide/scale.md", 1],
] as const)("%s", (page, outputs) => {
  const guide = readGuide(page);
  const blocks = commandBlocks(guide);

  test("prints the output shown", async () => {
    const files = folder();
    for (const [, name = "", text = ""] of guide.matchAll(/```(?:csv|json) (\w+\.\w+)\n([^]*?)```/g))
      files.file(name, text);
    for (const { commands, output } of blocks) {
      let stdout = "";
      for (const command of commands) {
        const { code, out } = await runGuideCommand(command, files);
        expect([command, code]).toEqual([command, 0]);
        stdout = out.trimEnd();
      }
      if (output !== undefined) expect(stdout).toBe(output);
    }
    files.remove();
  });

  test("shows outputs", () => {
    expect(blocks.filter(({ output }) => output !== undefined)).toHaveLength(outputs);
  });
});

test("the preview in a clone prints four invoices, the last of them that of the guide to credits", async () => {
  expect(readme).toContain("npm run preview");
  const [, , ...argv] = packageJson.scripts.preview.split(" ");
  const { code, out } = await ratebook(argv);
  expect(code).toBe(0);
  const invoices = out.trimEnd().split("\n\n");
  expect(invoices).toHaveLength(4);
  expect(commandBlocks(readGuide("guide/credits-and-entitlements.md"))[0]?.output).toContain(invoices[3]);
});

describe("commands that are not run", () => {
  const folders = ["guide", "operate"].map((name) => join("docs", name));
  const pages = folders.flatMap((name) => readdirSync(join(root, name)).map((file) => join(name, file)));

  test.each(["README.md", ...pages])("%s uses only existing options", async (page) => {
    const text = readFileSync(join(root, page), "utf8").replaceAll(/\\\n\s+/g, "");
    const unknown: string[] = [];
    for (const [, command = "", rest = ""] of text.matchAll(/(?:npx |^|`)ratebook ([a-z]+)\b([^\n`]*)/gm)) {
      const { out } = await ratebook([command, "--help"]);
      const options = rest.match(/--[a-z-]+/g) ?? [];
      unknown.push(...options.filter((option) => !out.includes(option)).map((option) => `${command} ${option}`));
    }
    expect(unknown).toEqual([]);
  });
});
