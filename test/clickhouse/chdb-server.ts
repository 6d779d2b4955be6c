/**
 * ClickHouse's engine behind a small HTTP server: chDB runs the statements that the official client sends. chDB is half
 * a gigabyte, so it is in a separate package that `npm run test:long` installs.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";

/** The part of chDB that is used. */
interface ChDb {
  readonly Session: new (path?: string) => {
    readonly queryAsync: (
      sql: string,
      options: { readonly format: string },
    ) => Promise<{ readonly bytes: () => Uint8Array }>;
    readonly close: () => void;
  };
}
const PACKAGE = "chdb";

/** A running server. */
export interface ChDbServer {
  readonly url: string;
  /** Every statement received, in order. */
  readonly statements: readonly string[];
  /** Cuts the connection during every answer that is longer than this many bytes. */
  cutAfter: number;
  /** Closes the connection of statements that match, without an answer. */
  disconnectOn: RegExp | undefined;
  /** The only accepted password. */
  password: string;
  readonly close: () => Promise<void>;
}

/** Parameters that are not settings. */
const OF_PROTOCOL = new Set(["query", "query_id", "session_id", "database", "default_format", "role"]);

/**
 * Starts a server on a free port of this machine.
 *
 * @param from a file of the package that has chDB
 */
export async function startChDb(from = import.meta.url): Promise<ChDbServer> {
  const { Session } = createRequire(from)(PACKAGE) as ChDb;
  const session = new Session();
  const statements: string[] = [];
  const settings = new Map<string, string>();
  const runSql = async (sql: string): Promise<Buffer> =>
    Buffer.from((await session.queryAsync(sql, { format: "TabSeparated" })).bytes());
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = queue.then(work, work);
    queue = result.catch(() => undefined);
    return result;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { searchParams } = new URL(request.url ?? "/", "http://localhost");
    const body = await readBody(request);
    if (request.headers["x-clickhouse-key"] !== undefined || request.headers.authorization !== undefined) {
      const [, password = ""] = Buffer.from((request.headers.authorization ?? "").replace("Basic ", ""), "base64")
        .toString()
        .split(":");
      if (password !== server.password)
        return refuse(
          response,
          403,
          "Code: 516. DB::Exception: default: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED)",
        );
    }
    const sql = [searchParams.get("query") ?? "", body].filter((part) => part !== "").join("\n");
    if (sql === "") return void response.end("Ok.\n");
    statements.push(sql);
    if (server.disconnectOn?.test(sql) === true) return void response.destroy();
    try {
      const bytes = await inTurn(async () => {
        for (const [name, value] of searchParams) {
          if (OF_PROTOCOL.has(name) || settings.get(name) === value) continue;
          await runSql(`set ${name} = '${value}'`);
          settings.set(name, value);
        }
        return runSql(sql);
      });
      response.writeHead(200, { "content-type": "text/plain; charset=UTF-8" });
      if (bytes.length <= server.cutAfter) return void response.end(bytes);
      response.write(bytes.subarray(0, server.cutAfter), () => response.destroy());
    } catch (error) {
      refuse(response, 500, error instanceof Error ? error.message.replace(/^Query failed: /, "") : String(error));
    }
  };
  const http = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => {
    http.listen(0, "127.0.0.1", resolve);
  });
  const server: ChDbServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    statements,
    cutAfter: Infinity,
    disconnectOn: undefined,
    password: "",
    close: async () => {
      await closeServer(http);
      session.close();
    },
  };
  return server;
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=UTF-8" });
  response.end(message);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function closeServer(http: Server): Promise<void> {
  http.closeAllConnections();
  await new Promise<void>((resolve) => {
    http.close(() => resolve());
  });
}
