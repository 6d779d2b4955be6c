/** `ratebook conformance`: runs the test vectors against a program and compares its answers. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { InputError } from "../../event-files/input-error.ts";
import { parseDecimal, isDecimalObject, formatDecimal, isJsonObject } from "../../numbers/decimal.ts";
import { parseJson, stringifyJson } from "../../numbers/json.ts";
import { toPrintable } from "../../pages/printable.ts";
import { quoteText } from "../../problem-table.ts";
import type { Vector } from "../../vectors.ts";
import { type Arguments, type Command, requireNoArguments } from "../arguments.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";

export const conformanceCommand: Command = {
  usage: "--command CMD",
  options: {
    command: {
      kind: "one",
      value: "CMD",
      help: "shell command of the program, which reads and writes JSON lines",
    },
  },
  run: runConformance,
};

/** Milliseconds without an answer after which the program is stopped. */
const ANSWER_TIMEOUT_MS = 60_000;

/** The program's answer to a vector. */
type Answer = { readonly result: unknown } | { readonly skipped: true } | { readonly error: string };

async function runConformance(args: Arguments, io: Io): Promise<"done" | "problems"> {
  const command = args.value("command");
  requireNoArguments(args, "give the program with --command");
  if (command === undefined)
    throw new UsageError('missing --command: give the program to test, as in --command "node engine.js"');
  // Imported here, because no other command needs the vectors.
  const { vectors } = await import("../../vectors.ts");
  const answers = await collectAnswers(command, vectors, io);
  let [agreeingCount, skippedCount, differingCount] = [0, 0, 0];
  for (const vector of vectors) {
    const answer = answers.get(vector.id);
    if (answer !== undefined && "skipped" in answer) {
      skippedCount++;
      continue;
    }
    const difference = findDifference(vector, answer);
    if (difference === undefined) agreeingCount++;
    else {
      differingCount++;
      await write(io.stdout, `${toPrintable(`${vector.id} (${vector.rule}): ${difference}; ${vector.because}`)}\n`);
    }
  }
  const skippedText = skippedCount === 0 ? "" : `, ${skippedCount} left out`;
  await write(io.stdout, `${agreeingCount} of ${vectors.length - skippedCount} vectors agree${skippedText}\n`);
  return differingCount === 0 ? "done" : "problems";
}

/** Runs the program on all vectors. @throws {InputError} if its output is not an answer, or it fails */
async function collectAnswers(
  command: string,
  vectors: readonly Vector[],
  io: Io,
): Promise<ReadonlyMap<string, Answer>> {
  const ids = new Set(vectors.map(({ id }) => id));
  const program = spawn(command, { shell: true, stdio: ["pipe", "pipe", "inherit"] });
  const exit = once(program, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  // The program may exit before it has read everything; the remaining vectors then have no answer.
  program.stdin.on("error", () => {});
  for (const { id, kind, input } of vectors) program.stdin.write(`${JSON.stringify({ id, kind, input })}\n`);
  program.stdin.end();
  const answers = new Map<string, Answer>();
  let isTimedOut = false;
  const stopProgram = (): void => {
    isTimedOut = true;
    program.kill();
    program.stdout.destroy();
  };
  let timer = setTimeout(stopProgram, ANSWER_TIMEOUT_MS);
  let line = 0;
  try {
    for await (const text of createInterface({ input: program.stdout, crlfDelay: Infinity })) {
      clearTimeout(timer);
      timer = setTimeout(stopProgram, ANSWER_TIMEOUT_MS);
      line++;
      if (text.trim() === "") continue;
      const [id, answer] = readAnswer(text, line, ids);
      if (answers.has(id)) throw new InputError(`answer ${line}: ${quoteText(id)} has a duplicate answer`);
      answers.set(id, answer);
    }
  } finally {
    clearTimeout(timer);
    program.kill();
  }
  const [code] = await exit;
  if (isTimedOut)
    await write(
      io.stderr,
      `ratebook: the program did not answer within ${ANSWER_TIMEOUT_MS / 1000} seconds and was stopped\n`,
    );
  if (code !== 0 && code !== null) throw new InputError(`the program ended with the exit code ${code}`);
  return answers;
}

function readAnswer(text: string, line: number, ids: ReadonlySet<string>): readonly [string, Answer] {
  const invalidAnswerError = (why: string): InputError =>
    new InputError(
      `answer ${line}: expected {"id", "result"}, {"id", "skipped": true} or {"id", "error"}, ${why}: ${quoteText(text)}`,
    );
  let answer: unknown;
  try {
    answer = parseJson(text);
  } catch {
    throw invalidAnswerError("got invalid JSON");
  }
  if (!isAnswer(answer)) throw invalidAnswerError("got no id");
  const { id, result, skipped, error } = answer;
  if (!ids.has(id)) throw invalidAnswerError("got an unknown id");
  if (skipped === true) return [id, { skipped }];
  if (typeof error === "string") return [id, { error }];
  if (result === undefined) throw invalidAnswerError("got none of them");
  return [id, { result }];
}

function findDifference({ expected }: Vector, answer: Answer | undefined): string | undefined {
  if (answer === undefined) return "no answer";
  if ("error" in answer) return `the program says: ${answer.error}`;
  return "result" in answer ? findFirstDifference(expected, answer.result, "") : undefined;
}

/** The first difference between an answer and the expected result. Decimals are compared by value; extra fields are ignored. */
function findFirstDifference(expected: unknown, actual: unknown, path: string): string | undefined {
  const describe = (): string => `${path}: expected ${describeValue(expected)}, found ${describeValue(actual)}`;
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return describe();
    return expected
      .map((each, at) => findFirstDifference(each, actual[at], `${path}[${at}]`))
      .find((each) => each !== undefined);
  }
  if (isJsonObject(expected)) {
    if (!isJsonObject(actual)) return describe();
    return Object.entries(expected)
      .map(([name, each]) => findFirstDifference(each, actual[name], path === "" ? name : `${path}.${name}`))
      .find((each) => each !== undefined);
  }
  return toPlainText(expected) === toPlainText(actual) ? undefined : describe();
}

/** A number or decimal text in plain notation; other text is unchanged. */
function toPlainText(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number" && !isDecimalObject(value)) return undefined;
  const text = isDecimalObject(value) ? formatDecimal(value) : String(value);
  return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? formatDecimal(parseDecimal(text)) : text;
}

function describeValue(value: unknown): string {
  return value === undefined ? "nothing" : stringifyJson(value);
}

function isAnswer(value: unknown): value is Readonly<Record<string, unknown>> & { readonly id: string } {
  return isJsonObject(value) && typeof value["id"] === "string";
}
