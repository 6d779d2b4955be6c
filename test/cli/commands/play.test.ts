/** `ratebook play`: the playground with a book, reachable only from this machine. */
import { EventEmitter, once } from "node:events";
import { mkdirSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { PlayState } from "../../../src/pages/play-state.ts";
import { examplePath } from "../../support/examples.ts";
import { eventLine, ratebook, SMALL_BOOK, testFolder } from "../fake-io.ts";

const files = testFolder();

/** The beginning of a page. */
function stateIn(html: string): PlayState | undefined {
  const [, data] = /<script type="application\/json" id="data">([^<]+)<\/script>/.exec(html) ?? [];
  return data === undefined ? undefined : (JSON.parse(data) as { state: PlayState }).state;
}

async function writePage(...argv: readonly string[]): Promise<PlayState | undefined> {
  expect(await files.run(["play", ...argv, "-o", "play.html"])).toEqual({ code: 0, out: "", err: "" });
  return stateIn(files.read("play.html"));
}

describe("the written page", () => {
  test("contains the book's source text and the month of its first plan", async () => {
    const text = `// what we sell\n${JSON.stringify(SMALL_BOOK)}\n`;
    const month = { from: "2024-01-01", until: "2024-02-01" };
    expect(await writePage(files.file("book.jsonc", text))).toEqual({ book: text, usage: [], events: "", ...month });
  });

  test("contains the events beside the book, or the given ones, and their month", async () => {
    mkdirSync(join(files.path, "sample"));
    const book = files.file("sample/book.json", SMALL_BOOK);
    const beside = eventLine("e1", "2024-12-20T00:00:00Z", 1);
    files.file("sample/events.ndjson", beside);
    expect(await writePage(book)).toMatchObject({ events: beside, from: "2024-12-01", until: "2025-01-01" });
    const otherEvent = eventLine("e2", "2024-03-20T00:00:00Z", 2);
    const path = files.file("named.ndjson", otherEvent);
    expect(await writePage(book, "--events", path)).toMatchObject({ events: otherEvent, from: "2024-03-01" });
    expect((await writePage(examplePath("cloud-storage", "book.json")))?.events).toContain('"schemaName"');
  });

  test("starts with the recipes if no book is given", async () => {
    expect(await writePage()).toBeUndefined();
  });

  test.each<readonly [string, () => readonly string[], string]>([
    ["a book with a problem", () => [files.file("bad.json", '{"acounts": []}')], "acounts"],
    ["no book", () => [join(files.path, "none.json")], "none.json"],
    [
      "events of more than a mebibyte",
      () => [files.file("b.json", SMALL_BOOK), "--events", files.file("e.ndjson", " ".repeat(1 << 21))],
      "larger than 1 MiB",
    ],
    ["an invalid port", () => ["--port", "70000"], "expected a whole number from 0 to 65535"],
  ])("%s is reported", async (_, argv, message) => {
    const { code, out, err } = await ratebook(["play", ...argv()]);
    expect(code).not.toBe(0);
    expect(out).toBe("");
    expect(err).toContain(message);
  });
});

/** Sends a request as a browser would, with the given host name. */
async function requestPage(port: number, host: string, path = "/", method = "GET"): Promise<readonly [number, string]> {
  return new Promise((resolve, fail) => {
    const outgoing = request({ host: "127.0.0.1", port, path, method, headers: { host } }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("end", () => resolve([response.statusCode ?? 0, text]));
    });
    outgoing.on("error", fail);
    outgoing.end();
  });
}

test("the served page accepts only requests to this machine", async () => {
  const output = new EventEmitter();
  const message = once(output, "out");
  const serving = ratebook(["play", files.file("served.json", SMALL_BOOK)], {
    waitForStop: async () => String(await once(output, "stop")),
    onOutput: (out) => output.emit("out", out),
  });
  const at = Number(/:(\d+)\/ \(stop/.exec(String(await message))?.[1]);
  const [status, html] = await requestPage(at, `127.0.0.1:${at}`);
  expect([status, stateIn(html)?.from]).toEqual([200, "2024-01-01"]);
  expect(await requestPage(at, `localhost:${at}`, "/", "HEAD")).toEqual([200, ""]);
  // A page of another site that resolves its name to this machine, another path, another method.
  expect(await requestPage(at, "evil.example")).toEqual([404, "not found\n"]);
  expect(await requestPage(at, `127.0.0.1:${at}`, "/book.json")).toEqual([404, "not found\n"]);
  expect(await requestPage(at, `127.0.0.1:${at}`, "/", "POST")).toEqual([404, "not found\n"]);
  output.emit("stop", "SIGINT");
  expect(await serving).toMatchObject({ code: 0, err: "" });
});
