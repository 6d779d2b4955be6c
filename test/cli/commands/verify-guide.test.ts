/** The guide shows the actual output. */
import { expect, test } from "vitest";

import { readGuide } from "../../support/guides.ts";
import { ratebook, testFolder } from "../fake-io.ts";

const guide = readGuide("reference/verify.md");
const files = testFolder();

function blocks(language: string): readonly string[] {
  return [...guide.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\n\`\`\``, "g"))].map(([, text]) => text ?? "");
}

test("the guide to verifying shows the output of its commands", async () => {
  const [first = "", second = ""] = blocks("sh").map((block) => block.replaceAll(/\\\n\s+/g, ""));
  const [, preview = "", verify = ""] = first.split("\n");
  const [shownFirst, wrong, shownSecond] = blocks("text");
  const argv = (command: string): readonly string[] =>
    command
      .replace(/^npx ratebook /, "")
      .replaceAll(/seats-and-usage\//g, "docs/examples/$&")
      .replace(/ > .*/, "")
      .split(" ");
  const output = (await ratebook(argv(preview))).out;
  const path = files.file("invoices.json", output);
  const runCommand = async (command: string) =>
    (await ratebook(argv(command).map((part) => (part === "invoices.json" ? path : part)))).out.trimEnd();
  expect(await runCommand(verify)).toBe(shownFirst);
  expect(await runCommand(second)).toBe(shownSecond);
  const alteredFile = files.file("invoices.json", output.replace('"value": 3,', '"value": 4,'));
  expect((await ratebook(["verify", alteredFile])).out.split("\n")[0]).toBe(wrong);
});
