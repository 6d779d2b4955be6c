/** The messages that docs/operate/troubleshooting.md quotes are those of the source. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { parseSync, Visitor } from "oxc-parser";
import { describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");

/** The messages in the first column of the tables of messages. */
function quotedMessages(page: string): readonly string[] {
  const tables = page.split("\n\n").filter((block) => block.startsWith("| message"));
  const cells = tables.flatMap((table) => table.split("\n").slice(2)).map((row) => row.split(" | ")[0] ?? "");
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, message = ""]) => message));
}

/** A pattern of the texts that contain a message. Its values, omitted (…) or in quotation marks, match any text. */
function toPattern(message: string): RegExp {
  const parts = message.split(/…|"[^"]*"/).map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
  return new RegExp(parts.join("[^]*"));
}

/** The string literals and templates of a source file, with … for the values of templates. */
function textsIn(file: string, source: string): readonly string[] {
  const texts: string[] = [];
  new Visitor({
    Literal: ({ value }) => {
      if (typeof value === "string") texts.push(value);
    },
    TemplateLiteral: ({ quasis }) => {
      texts.push(quasis.map(({ value }) => value.cooked ?? "").join("…"));
    },
  }).visit(parseSync(file, source).program);
  return texts;
}

describe("docs/operate/troubleshooting.md", () => {
  const messages = quotedMessages(readFileSync(join(root, "docs/operate/troubleshooting.md"), "utf8"));
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const texts = files.flatMap((file) => textsIn(file, readFileSync(join(root, "src", file), "utf8")));

  test("quotes messages", () => {
    expect(messages.length).toBeGreaterThanOrEqual(10);
  });

  test.each(messages)("%s is a message of the source", (message) => {
    const pattern = toPattern(message);
    expect(texts.some((text) => pattern.test(text))).toBe(true);
  });
});
