/** Sends requests over loopback from another process, so that the server has a thread to itself. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";

/** The measured times. */
export interface DriverResult {
  /** From the first request to the last answer. */
  readonly seconds: number;
  /** Milliseconds per request. */
  readonly p50: number;
  readonly p99: number;
}

/** The requests to send. */
interface Task {
  readonly port: number;
  readonly path: string;
  /** Where the bodies are stored for the other process, one per line. */
  readonly file: string;
  readonly connections: number;
}

/**
 * Posts all bodies to a path over several connections, each with one request at a time.
 *
 * @throws if an answer is not successful
 */
export async function drive(task: Task, bodies: readonly string[]): Promise<DriverResult> {
  await writeFile(task.file, bodies.join("\n"));
  // The other process only needs the source of this function.
  const child = spawn(process.execPath, ["-e", `(${post.toString()})(${JSON.stringify(task)})`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`the driver ended with ${code}: ${output}`);
  return JSON.parse(output) as DriverResult;
}

/** Runs in the other process; must not use anything outside this function. */
async function post({ port, path, file, connections }: Task): Promise<void> {
  const http = process.getBuiltinModule("node:http");
  const fs = process.getBuiltinModule("node:fs");
  const bodies = fs
    .readFileSync(file, "utf8")
    .split("\n")
    .map((line) => Buffer.from(line));
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const sendBody = async (body: Buffer): Promise<void> => {
    const start = process.hrtime.bigint();
    await new Promise<void>((resolve, fail) => {
      const headers = { "content-type": "application/json", "content-length": body.length, authorization: "Bearer x" };
      const request = http.request({ port, path, method: "POST", agent, headers, host: "127.0.0.1" }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          if (response.statusCode === 200 || response.statusCode === 202) resolve();
          else fail(new Error(`${response.statusCode}: ${Buffer.concat(chunks).toString().slice(0, 500)}`));
        });
      });
      request.on("error", fail);
      request.end(body);
    });
    times.push(Number(process.hrtime.bigint() - start) / 1e6);
  };
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) await sendBody(body);
  };
  const start = process.hrtime.bigint();
  await Promise.all(Array.from({ length: connections }, worker));
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  times.sort((a, b) => a - b);
  const percentileAt = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  agent.destroy();
  console.log(JSON.stringify({ seconds, p50: percentileAt(0.5), p99: percentileAt(0.99) }));
}
