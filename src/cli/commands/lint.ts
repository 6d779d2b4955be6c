/** `ratebook lint`: finds what is valid in a book but probably unintended. */
import type { LintFinding } from "../../analysis/lint/finding.ts";
import { lintBook } from "../../analysis/lint/lint-book.ts";
import { toWrittenPath } from "../../book/book.ts";
import { formatPath, parsePath } from "../../book/problems.ts";
import { parseJsonDocument } from "../../book/reading/json-document.ts";
import { LINT_CODES } from "../../book/resources/book.ts";
import type { TextPlace } from "../../numbers/json-text.ts";
import { toPrintable } from "../../pages/printable.ts";
import { readPackageVersion } from "../../server/version.ts";
import { type Arguments, checkOption, type Command, requireFilePath } from "../arguments.ts";
import { readBookFile, readBookOrPlanFile, readTextFile } from "../documents/read-documents.ts";
import { type Io, write } from "../io.ts";
import { withOutput } from "../output/output-file.ts";
import { hasUsageOptions, meteredUsageOptions } from "../reading/event-options.ts";
import { outputOptions } from "../reading/input-options.ts";
import { readMeteredUsage } from "./metered-usage.ts";

export const lintCommand: Command = {
  usage: "BOOK|PLAN [options]",
  options: {
    ...outputOptions(["text", "json", "sarif"], "findings"),
    "jump-share": {
      kind: "one",
      value: "SHARE",
      help: "largest price increase at a tier boundary, as a share; default 1 (the price may double)",
    },
    all: { kind: "flag", help: "show silenced findings too" },
    ...meteredUsageOptions,
  },
  run: runLint,
};

/** The path of a plan that is a file of its own, in the book that is assumed for it. */
const PLAN_PATH = "$.pricePlans[0]";

async function runLint(args: Arguments, io: Io): Promise<"done" | "problems"> {
  const path = requireFilePath(args, "BOOK or PLAN");
  const file = await (hasUsageOptions(args) ? readBookFile : readBookOrPlanFile)(path, io);
  const text = await readTextFile(path, io);
  const document = parseJsonDocument(text);
  const { book, usage, problemCount } = await readMeteredUsage(args, file, io);
  const jumpShare = args.value("jump-share");
  const allFindings = checkOption("jump-share", () => lintBook(book, { jumpShare, usage }));
  const findings = allFindings.flatMap((each): readonly PlacedFinding[] => {
    // A book with accounts from events is a copy, and has other paths.
    const bookPath = book === file.book ? each.path : formatPath(toWrittenPath(file.book, parsePath(each.path)));
    // Only what a file has is shown, not what is assumed of its book.
    if (file.plan !== undefined && !bookPath.startsWith(PLAN_PATH)) return [];
    const path = file.plan === undefined ? bookPath : `$${bookPath.slice(PLAN_PATH.length)}`;
    return [{ ...each, path, place: "findPlace" in document ? document.findPlace({ path }) : undefined }];
  });
  await withOutput(args, io, async ({ stdout }) => {
    switch (args.value("format") ?? "text") {
      case "json":
        await write(stdout, `${JSON.stringify({ findings }, null, 2)}\n`);
        break;
      case "sarif":
        await write(stdout, `${JSON.stringify(toSarif(path, findings), null, 2)}\n`);
        break;
      default:
        await write(stdout, formatFindings(path, findings, args.flag("all")));
    }
  });
  const hasWarnings = findings.some(({ level, silenced }) => level === "warning" && silenced === undefined);
  return hasWarnings || problemCount > 0 ? "problems" : "done";
}

/** Two lines per finding, and the number of findings. */
function formatFindings(file: string, findings: readonly PlacedFinding[], showsAll: boolean): string {
  const openFindings = findings.filter(({ silenced }) => silenced === undefined);
  const lines = (showsAll ? findings : openFindings).flatMap(
    ({ place, level, code, at, message, example, searched, silenced }) => [
      `${place === undefined ? file : `${file}:${place.line}:${place.column}`}: ${level} ${code} ${at}: ${message}${searched ? " (searched)" : ""}`,
      ...(example === undefined ? [] : [`  ${example}`]),
      ...(silenced === undefined ? [] : [`  silenced: ${silenced}`]),
    ],
  );
  const countLevel = (level: PlacedFinding["level"]): string => {
    const number = openFindings.filter((each) => each.level === level).length;
    return `${number} ${level}${number === 1 ? "" : "s"}`;
  };
  const silencedCount = findings.length - openFindings.length;
  const totals = `${file}: ${countLevel("warning")}, ${countLevel("note")}${silencedCount === 0 ? "" : `, ${silencedCount} silenced`}`;
  return [...lines, totals, ""].map(toPrintable).join("\n");
}

/** A finding and its place in the file. */
export type PlacedFinding = LintFinding & { readonly place: TextPlace | undefined };

/** One run for one file. Silenced findings are results with an accepted suppression. */
export function toSarif(file: string, findings: readonly PlacedFinding[]): object {
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: { name: "ratebook lint", version: readPackageVersion(), rules: LINT_CODES.map((id) => ({ id })) },
        },
        columnKind: "utf16CodeUnits",
        results: findings.map((finding) => toSarifResult(file, finding)),
      },
    ],
  };
}

function toSarifResult(
  file: string,
  { code, level, message, example, at, path, silenced, place }: PlacedFinding,
): object {
  return {
    ruleId: code,
    level,
    message: { text: example === undefined ? message : `${message}: ${example}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: encodeURI(file) },
          ...(place && { region: { startLine: place.line, startColumn: place.column } }),
        },
        logicalLocations: [{ name: at, fullyQualifiedName: path }],
      },
    ],
    ...(silenced !== undefined && { suppressions: [{ kind: "inSource", justification: silenced }] }),
  };
}
