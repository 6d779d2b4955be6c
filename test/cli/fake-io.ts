/** The environment of a command under test: files in a temporary folder, streams in memory. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";

import { afterAll } from "vitest";

import { createFile, type Io } from "../../src/cli/io.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { MONTHLY, sumMeter } from "../book/builder.ts";

/** The result of a command. */
export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder of files of a test. */
export interface Folder {
  readonly path: string;
  /** Writes a text, bytes, or another value as JSON, and returns the path. */
  file(name: string, content: unknown): string;
  /** The text of a file. */
  read(name: string): string;
  /**
   * Runs a command, given as a list or as words. Words that name a file of the folder, or follow `-o`, become its path.
   * The folder's path is removed from the output.
   */
  readonly run: (command: string | readonly string[], options?: RunOptions) => Promise<CommandResult>;
  /** Deletes the files. */
  readonly clear: () => void;
  readonly remove: () => void;
}

export function folder(): Folder {
  const path = mkdtempSync(join(tmpdir(), "ratebook-cli-"));
  return {
    path,
    file(name, content) {
      const isPlain = typeof content === "string" || content instanceof Uint8Array;
      writeFileSync(join(path, name), isPlain ? content : JSON.stringify(content));
      return join(path, name);
    },
    read: (name) => readFileSync(join(path, name), "utf8"),
    run: async (command, options) => {
      const words = typeof command === "string" ? command.split(" ") : command;
      const isOfFolder = (word: string, place: number): boolean =>
        /^\w[^/]*(?:\/[^/]+)?$/.test(word) && (words[place - 1] === "-o" || existsSync(join(path, word)));
      const argv = words.map((word, place) => (isOfFolder(word, place) ? join(path, word) : word));
      return ratebook(argv, { folderPath: path, ...options });
    },
    clear: () => {
      for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true });
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** A folder that is deleted after the tests of the file that calls this. */
export function testFolder(): Folder {
  const files = folder();
  afterAll(files.remove);
  return files;
}

/** The result of a command that only prints a sentence on standard error. */
export const failure = (sentence: string, code = 1): CommandResult => ({
  code,
  out: "",
  err: `ratebook: ${sentence}\n`,
});

/** The input and the environment of a command. */
interface RunOptions {
  stdin?: string | Uint8Array;
  /** Removed from the output. */
  folderPath?: string;
  isTerminal?: boolean;
  terminal?: Io["terminal"];
  env?: Io["env"];
  waitForStop?: Io["waitForStop"];
  onOutput?: (out: string) => void;
}

/** Runs a command in this process. The folder's path is removed from its output. */
export async function ratebook(
  argv: readonly string[],
  {
    stdin = "",
    folderPath = "",
    isTerminal: isStderrTerminal = false,
    terminal,
    env = {},
    waitForStop = () => new Promise(() => {}),
    onOutput = () => {},
  }: RunOptions = {},
): Promise<CommandResult> {
  const texts = { out: "", err: "" };
  const createSink = (name: "out" | "err"): Writable =>
    new Writable({
      write(chunk: Buffer, _, callback) {
        texts[name] += chunk.toString();
        if (name === "out") onOutput(texts.out);
        callback();
      },
    });
  const io: Io = {
    stdin: () => Readable.from([Buffer.from(stdin)]),
    stdout: createSink("out"),
    stderr: createSink("err"),
    isStderrTerminal,
    terminal,
    createFile,
    readFile: async (path) => readFile(path),
    fingerprintKey: () => [1, 2, 3, 4],
    env,
    waitForStop,
  };
  const code = await runCommandLine(argv, io);
  const removeFolderPath = (text: string): string => (folderPath === "" ? text : text.replaceAll(`${folderPath}/`, ""));
  return { code, out: removeFolderPath(texts.out), err: removeFolderPath(texts.err) };
}

/**
 * A book with one account that pays 2 for each of the first 100 units of a month and 1 beyond, and at least 2,000 a
 * month.
 */
export const SMALL_BOOK = {
  organization: { id: "acme", name: "Acme" },
  eventSchemas: [{ name: "call", attributes: [{ name: "units" }], dimensions: [{ name: "region" }] }],
  usageMeters: [sumMeter("um.units", "call", "units")],
  pricePlans: [
    {
      id: "pp.small",
      name: "Small",
      pricePlanDetails: {
        ...MONTHLY,
        usageRateCards: [
          {
            usageMeterId: "um.units",
            ratePlan: {
              pricingModel: "TIERED",
              slabs: [
                { order: 1, startAfter: 0, endAt: 100, priceType: "PER_UNIT" },
                { order: 2, startAfter: 100, priceType: "PER_UNIT" },
              ],
            },
            rateValues: [
              {
                currency: "USD",
                slabRates: [
                  { order: 1, rate: 2 },
                  { order: 2, rate: 1 },
                ],
              },
            ],
          },
        ],
        minimumCommitment: { rateValues: [{ currency: "USD", rate: 2000 }] },
      },
    },
  ],
  customers: [{ id: "contoso", name: "Contoso" }],
  accounts: [
    {
      id: "prod",
      name: "Contoso production",
      customerId: "contoso",
      aliases: ["c-1"],
      pricePlans: [{ pricePlanId: "pp.small", effectiveFrom: "2024-01-01" }],
      credits: [{ purpose: "welcome", creditAmount: 50, effectiveFrom: "2024-01-01" }],
    },
  ],
};

/** A plan of the small book's meter in short form: a price for each of the first 100 units of a month, and one beyond. */
export function smallPlan(id: string, first: number, beyond = 1): object {
  const tiers = [{ upTo: 100, rate: first }, { rate: beyond }];
  return { id, name: "Small", cycle: "MONTHLY", usage: [{ meter: "um.units", tiers }] };
}

/** The small book, all ACTIVE and without the minimum: for engines. */
export const LIVE_BOOK = {
  ...SMALL_BOOK,
  eventSchemas: SMALL_BOOK.eventSchemas.map((schema) => ({ ...schema, status: "ACTIVE" })),
  pricePlans: SMALL_BOOK.pricePlans.map((plan) => ({
    ...plan,
    status: "ACTIVE",
    pricePlanDetails: { ...plan.pricePlanDetails, minimumCommitment: undefined },
  })),
};

/** One event of the small book as a line, with its line end. */
export function eventLine(id: string, timestamp: string, units: number | string, more: object = {}): string {
  const event = {
    schemaName: "call",
    id,
    timestamp,
    accountId: "prod",
    attributes: [{ name: "units", value: units }],
    dimensions: { region: "eu" },
    ...more,
  };
  return `${JSON.stringify(event)}\n`;
}
