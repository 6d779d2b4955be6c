/** The guide to a price change: every command runs as it is printed there, and prints what stands below it. */
import { readFileSync } from "node:fs";

import { afterAll, beforeAll, expect, test } from "vitest";

import { guideOf } from "../support/guides.ts";
import { type Folder, folder, ratebook } from "./fake-io.ts";

const guide = guideOf("price-change.md");
let files: Folder;
beforeAll(() => {
  files = folder();
});
afterAll(() => files.remove());

const blocks = [...guide.matchAll(/```sh\n([^]*?)\n```\n\n```text\n([^]*?)\n```/g)].map(
  ([, commands = "", text = ""]) => ({
    commands: commands.replaceAll(/\\\n\s+/g, "").split("\n"),
    text,
  }),
);

test("S13.6 the guide to a price change shows what its commands print", async () => {
  expect(blocks).toHaveLength(6);
  for (const { commands, text } of blocks) {
    let printed = "";
    for (const command of commands) {
      const [, count, name] = /^head -(\d+) (\S+)$/.exec(command) ?? [];
      if (name !== undefined) {
        printed = readFileSync(`${files.path}/${name}`, "utf8").split("\n").slice(0, Number(count)).join("\n");
        continue;
      }
      // Files that a command writes, or that one before has written, are in a folder of the test.
      const argv = command
        .replace(/^ratebook /, "")
        .split(" ")
        .map((part) => (/^[a-z]+\.(?:(?:nd)?json|txt)$/.test(part) ? `${files.path}/${part}` : part));
      const ran = await ratebook(argv);
      expect([command, ran.code]).toEqual([command, 0]);
      printed = ran.out.trimEnd();
    }
    expect(printed).toBe(text);
  }
});
