/** Reads the examples in docs/examples like the command line, without running it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { toBookInput } from "../../src/book/book.ts";
import { type BookInput, preview, type Preview, type PreviewOptions, parseBook } from "../../src/index.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";

const EXAMPLES = join(import.meta.dirname, "../../docs/examples");

/** The path of a file in an example. */
export function examplePath(example: string, file: string): string {
  return join(EXAMPLES, example, file);
}

/** The arguments of a command that prices both request traces, and drafts of their plan. */
export function traceArguments(command: string, ...drafts: readonly string[]): readonly string[] {
  const files = ["code", "conv"].flatMap((trace) => [
    "--events",
    examplePath("llm-api", `AzureLLMInferenceTrace_${trace}.csv`),
    "--map",
    examplePath("llm-api", `${trace}.map.json`),
  ]);
  const plans = drafts.flatMap((draft) => ["--plan", examplePath("llm-api", `drafts/${draft}.json`)]);
  return [command, examplePath("llm-api", "book.json"), ...files, ...plans];
}

/** The text of a file of an example. */
export function exampleText(example: string, file: string): string {
  return readFileSync(examplePath(example, file), "utf8");
}

/** The book of an example in long form. */
export function longExampleBook(example: string): BookInput {
  return toBookInput(exampleText(example, "book.json"));
}

/** The events of an NDJSON file of an example. */
export function exampleEvents(example: string, file: string): EventInput[] {
  return exampleText(example, file)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as EventInput);
}

/** The events of one of the two request traces, read with their maps. */
export function traceEvents(trace: "code" | "conv", accountId: string): EventInput[] {
  const [, ...rows] = exampleText("llm-api", `AzureLLMInferenceTrace_${trace}.csv`).trim().split(/\r?\n/);
  return rows.map((row, index) => {
    const [timestamp = "", context = "", generatedTokens = ""] = row.split(",");
    return {
      schemaName: "llm_request",
      id: `${trace}-${index + 1}`,
      accountId,
      timestamp: `${timestamp.slice(0, 23).replace(" ", "T")}Z`,
      attributes: [
        { name: "context_tokens", value: context },
        { name: "generated_tokens", value: generatedTokens },
      ],
      dimensions: { service: trace },
    };
  });
}

/** The preview of an example. */
export function previewExample(example: string, events: Iterable<EventInput>, options?: PreviewOptions): Preview {
  return preview(parseBook(JSON.parse(exampleText(example, "book.json")) as unknown), events, options);
}
