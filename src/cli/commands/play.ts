/** `ratebook play`: serves the playground locally or writes it as a file. */
import { existsSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";

import { formatDate } from "../../calendar/instant.ts";
import { readPage, embedData } from "../../pages/page-file.ts";
import { type PlayState, createStateFromBook } from "../../pages/play-state.ts";
import { type Arguments, type Command, readPort, requireBookPath } from "../arguments.ts";
import { readBookFile, readTextFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { withOutput } from "../output/output-file.ts";

/** The maximum length of an event file that is embedded in the page. Larger ones can be dragged onto the page. */
const EVENTS_LENGTH_MAX = 1 << 20;

/** The name of a sample of events next to a book. */
const SAMPLE_FILE = "events.ndjson";

export const playCommand: Command = {
  usage: "[BOOK] [options]",
  options: {
    events: {
      kind: "one",
      value: "FILE",
      help: "events to start with, NDJSON, at most 1 MiB; default events.ndjson beside the book",
    },
    port: { kind: "one", value: "PORT", help: "the port of 127.0.0.1; default a free one" },
    output: { kind: "one", short: "o", value: "FILE", help: "write the page to FILE instead of serving it" },
  },
  run: runPlay,
};

async function runPlay(args: Arguments, io: Io): Promise<"done"> {
  if (args.positionals.length === 0 && args.value("events") !== undefined)
    throw new UsageError("--events needs BOOK: give the path of the book that prices them");
  if (args.value("output") !== undefined && args.value("port") !== undefined)
    throw new UsageError("use either --port to serve the page or -o to write it");
  const page = await readPage("play");
  const state = args.positionals.length === 0 ? undefined : await readInitialState(args, io);
  const html = state === undefined ? page : embedData(page, JSON.stringify({ state }));
  if (args.value("output") !== undefined) {
    await withOutput(args, io, ({ stdout }) => write(stdout, html));
    return "done";
  }
  const server = createPageServer(html);
  await listenOn(server, readPort(args) ?? 0);
  const { port } = server.address() as AddressInfo;
  await write(io.stdout, `the playground is at http://127.0.0.1:${port}/ (stop with Ctrl+C)\n`);
  await io.waitForStop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return "done";
}

/** Reads the book as written, with comments, and starts in the month of its first plan or event. */
async function readInitialState(args: Arguments, io: Io): Promise<PlayState> {
  const path = requireBookPath(args);
  const { book } = await readBookFile(path, io);
  const sampleCandidate = join(dirname(path), SAMPLE_FILE);
  const samplePath =
    existsSync(sampleCandidate) && statSync(sampleCandidate).size <= EVENTS_LENGTH_MAX ? sampleCandidate : undefined;
  const eventsPath = args.value("events") ?? samplePath;
  const events = eventsPath === undefined ? "" : await readTextFile(eventsPath, io);
  if (events.length > EVENTS_LENGTH_MAX) {
    throw new UsageError("--events: the file is larger than 1 MiB; drop it on the page instead");
  }
  const [, firstEventDate] = /"timestamp"\s*:\s*"(\d{4}-\d{2}-\d{2})/.exec(events) ?? [];
  const planStarts = book.accounts.flatMap(({ pricePlans }) => pricePlans.map(({ effectiveFrom }) => effectiveFrom));
  const firstPlanDate = planStarts.length === 0 ? undefined : formatDate(Math.min(...planStarts));
  return createStateFromBook(await readTextFile(path, io), events, firstEventDate ?? firstPlanDate);
}

function createPageServer(html: string): Server {
  return createServer((request, response) => {
    // Rejects requests for other host names, with which another site could read the page (DNS rebinding).
    const isOwnHost = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(request.headers.host ?? "");
    const isFound =
      isOwnHost && request.url?.split("?")[0] === "/" && (request.method === "GET" || request.method === "HEAD");
    response.writeHead(isFound ? 200 : 404, {
      "content-type": isFound ? "text/html; charset=utf-8" : "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    });
    response.end(request.method === "HEAD" ? "" : isFound ? html : "not found\n");
  });
}

function listenOn(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(new UsageError(`--port: cannot listen on 127.0.0.1:${port}: ${error.message}`)),
    );
    server.listen(port, "127.0.0.1", () => resolve());
  });
}
