/**
 * `ratebook play`: the playground, on this machine alone or as a file.
 *
 * @module
 */
import { existsSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";

import { formatDate } from "../calendar/instant.ts";
import { readPage } from "../pages/page-file.ts";
import { type PlayState, stateOfBook } from "../pages/play/play-state.ts";
import { withData } from "../pages/self-contained.ts";
import { quoted } from "../records/problems.ts";
import type { Arguments } from "./arguments.ts";
import { bookPath, type Command } from "./command.ts";
import { readBookFile, readTextFile } from "./documents.ts";
import { type Io, write } from "./io.ts";
import { withOutput } from "./output.ts";
import { UsageError } from "./problems.ts";

/** The largest file of events that is put into the page; larger ones are dropped on it. */
const EVENTS_LENGTH_MAX = 1 << 20;

/** The name of a file beside a book that is taken as a sample of its events. */
const SAMPLE = "events.ndjson";

/** Serves the playground, or writes it. */
export const playCommand: Command = {
  usage: "[BOOK] [options]",
  summary: "Opens the playground: change a plan or what is used, and read the invoice, in a browser on this machine.",
  options: {
    events: {
      kind: "one",
      value: "FILE",
      help: "events to begin with, one JSON object a line, at most 1 MiB; default events.ndjson beside the book",
    },
    port: { kind: "one", value: "PORT", help: "the port of 127.0.0.1; default a free one" },
    output: { kind: "one", short: "o", value: "FILE", help: "write the page to a file in place of serving it" },
  },
  run: play,
};

async function play(given: Arguments, io: Io): Promise<"done" | "problems"> {
  const page = await readPage("play");
  const state = given.positionals.length === 0 ? "none" : await stateOf(given, io);
  if (state === undefined) return "problems";
  const html = state === "none" ? page : withData(page, JSON.stringify({ state }));
  if (given.one("output") !== undefined) {
    await withOutput(given, io, ({ stdout }) => write(stdout, html));
    return "done";
  }
  const server = servingPage(html);
  await listening(server, portOf(given));
  const { port } = server.address() as AddressInfo;
  await write(io.stdout, `the playground is at http://127.0.0.1:${port}/ until it is stopped\n`);
  await io.stopped();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  return "done";
}

/** The book as it is written, so that its comments stay, with the month of its first plan or event. */
async function stateOf(given: Arguments, io: Io): Promise<PlayState | undefined> {
  const path = bookPath(given);
  const file = await readBookFile(path, io);
  if (file === undefined) return undefined;
  const beside = join(dirname(path), SAMPLE);
  const sample = existsSync(beside) && statSync(beside).size <= EVENTS_LENGTH_MAX ? beside : undefined;
  const eventsPath = given.one("events") ?? sample;
  const events = eventsPath === undefined ? "" : await readTextFile(eventsPath, io);
  if (events.length > EVENTS_LENGTH_MAX) {
    throw new UsageError("--events: the file is larger than 1 MiB: drop it on the page, which reads it in parts");
  }
  const [, used] = /"timestamp"\s*:\s*"(\d{4}-\d{2}-\d{2})/.exec(events) ?? [];
  const begun = file.book.accounts.flatMap(({ pricePlans }) => pricePlans.map(({ effectiveFrom }) => effectiveFrom));
  const first = begun.length === 0 ? undefined : formatDate(Math.min(...begun));
  return stateOfBook(await readTextFile(path, io), events, used ?? first);
}

function portOf(given: Arguments): number {
  const text = given.one("port") ?? "0";
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new UsageError(`--port: expected 0 to 65535, got ${quoted(text)}`);
  return port;
}

function servingPage(html: string): Server {
  return createServer((request, response) => {
    // A page of another site cannot ask for this one under a name of its own.
    const isHere = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(request.headers.host ?? "");
    const found =
      isHere && request.url?.split("?")[0] === "/" && (request.method === "GET" || request.method === "HEAD");
    response.writeHead(found ? 200 : 404, {
      "content-type": found ? "text/html; charset=utf-8" : "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    });
    response.end(request.method === "HEAD" ? "" : found ? html : "not found\n");
  });
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((done, failed) => {
    server.once("error", (error) =>
      failed(new UsageError(`--port: cannot listen on 127.0.0.1:${port}: ${error.message}`)),
    );
    server.listen(port, "127.0.0.1", () => done());
  });
}
