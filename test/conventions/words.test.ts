/** Names and messages use plain words: docs/contribute/style.md. */
import { describe, expect, test } from "vitest";

import { sources } from "../support/files.ts";

/** Participles that do not name a value. */
const NAME = /\b(?:const|let|readonly|function)\s+(asked|given|told|held|kept|tried|looked)\b/g;

/** Phrases that readers found unclear. */
const PHRASES = [
  "is away",
  "live elsewhere",
  "lives elsewhere",
  "have left",
  "was told",
  "is told",
  "is the most",
  "made twice",
  "may be given once",
  "go together: one is missing",
  "in place of",
  "at once, within",
  "by itself /",
  "cannot be given here",
  "is no JSON",
  "is no decimal",
  "names no attribute",
  "of its own: ",
];

/** Functions of more than five lines whose name ends in `Of`, which is for lookups. */
function longLookups(text: string): readonly string[] {
  const functions = text.matchAll(/^(?:export )?(?:async )?function\*? (\w+Of)\b[^]*?^\}/gm);
  return [...functions].flatMap(([body, name = ""]) => (body.split("\n").length > 5 ? [name] : []));
}

/** The texts of the source that a user may read: string literals, without comments. */
function messagesIn(text: string): readonly string[] {
  const code = text.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
  return [...code.matchAll(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g)].map(([literal]) => literal);
}

describe("words", () => {
  test("names of values, fields and functions are nouns or verbs", () => {
    const found = [...sources].flatMap(([file, text]) =>
      [...text.matchAll(NAME)].map(([, name = ""]) => `${file}: ${name}`),
    );
    expect(found).toEqual([]);
  });

  test("a function whose name ends in Of is a short lookup", () => {
    expect([...sources].flatMap(([file, text]) => longLookups(text).map((name) => `${file}: ${name}`))).toEqual([]);
  });

  test.each(PHRASES)("no message says %j", (phrase) => {
    const found = [...sources].flatMap(([file, text]) =>
      messagesIn(text).flatMap((message) => (message.includes(phrase) ? [`${file}: ${message.slice(0, 120)}`] : [])),
    );
    expect(found).toEqual([]);
  });
});
