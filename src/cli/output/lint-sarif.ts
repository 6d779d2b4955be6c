/** Lint findings as SARIF 2.1.0, which code hosts show next to the lines of a file. */
import type { LintFinding } from "../../analysis/lint/finding.ts";
import { LINT_CODES } from "../../book/resources/book.ts";
import type { TextPlace } from "../../numbers/json-text.ts";
import { readPackageVersion } from "../../server/version.ts";

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
