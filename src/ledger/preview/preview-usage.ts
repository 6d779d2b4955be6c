/**
 * Adds usage rows to a run, instead of the events that they came from or in addition to others (S17.1).
 *
 * @module
 */
import { didYouMean } from "../../book/problems.ts";
import type { Book } from "../../book/resources/book.ts";
import { hasCode, type Problem, RatebookError } from "../../errors.ts";
import { readUsageRow } from "../../metering/usage-row.ts";
import { exactOfDecimal } from "../../numbers/exact.ts";
import { rejection } from "../../problem-table.ts";
import { featuresBySchema, describeOrderDependence } from "../catalog.ts";
import { quoteText, refusedError } from "../refusals.ts";
import type { EventRun } from "./preview-run.ts";

/** Maximum number of row problems listed. */
const PROBLEMS_MAX = 1000;

/**
 * Creates the function that adds a row.
 *
 * @returns throws ERR_INPUT_INVALID for an invalid row, or an unknown account or meter; ERR_REFUSED for a meter whose
 * event schema consumes a feature, because the order of events matters; ERR_ARITHMETIC if its cell would need more than
 * 100 digits. A row that throws adds nothing
 */
export function createUsageReceiver(book: Book, run: Pick<EventRun, "accounts" | "addCell">): (row: unknown) => void {
  const meters = new Map(book.usageMeters.map((meter, index) => [meter.id, { meter, index }]));
  const features = featuresBySchema(book);
  return (row) => {
    const { accountId, meterId, day, quantity } = readUsageRow(row);
    const meter = meters.get(meterId);
    if (meter === undefined) {
      const hint = didYouMean(meterId, [...meters.keys()]);
      throw rejectedRowError("$.meterId", `no usage meter has the id ${quoteText(meterId)}${hint}`);
    }
    const { eventSchemaName } = meter.meter;
    const feature = features.get(eventSchemaName);
    if (feature !== undefined) throw featureUsageError(eventSchemaName, feature);
    const account = run.accounts.find(accountId);
    if (account === undefined) {
      const names = book.accounts.flatMap(({ id, aliases }) => [id, ...aliases]);
      throw rejectedRowError(
        "$.accountId",
        `no account has the id or alias ${quoteText(accountId)}${didYouMean(accountId, names)}`,
      );
    }
    run.addCell(account.index, meter.index, day, exactOfDecimal(quantity));
  };
}

/**
 * Adds all rows, or throws one error for all problems.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID with the first {@link PROBLEMS_MAX} problems, each with its path, as in
 * `$.usage[3].date`
 */
export function addUsageRows(take: (row: unknown) => void, rows: Iterable<unknown>): void {
  const problems: Problem[] = [];
  let index = 0;
  for (const row of rows) {
    try {
      take(row);
    } catch (error) {
      if (!isRowFault(error)) throw error;
      const path = hasCode(error, "ERR_INPUT_INVALID") ? (error.details.problems[0]?.path.slice(1) ?? "") : "";
      if (problems.length < PROBLEMS_MAX)
        problems.push(rejection(`$.usage[${index}]${path}`, "INVALID_USAGE", error.message));
    }
    index++;
  }
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length === 1 ? "" : ` (and ${problems.length - 1} more)`;
  throw new RatebookError("ERR_INPUT_INVALID", `${first.path}: ${first.message}${more}`, { problems });
}

/** Whether an error concerns a single row, so that other rows can still be checked. */
export function isRowFault(error: unknown): error is RatebookError {
  return hasCode(error, "ERR_INPUT_INVALID") || hasCode(error, "ERR_REFUSED") || hasCode(error, "ERR_ARITHMETIC");
}

/** The error for usage of a schema that consumes a feature. */
export function featureUsageError(schemaName: string, featureId: string): RatebookError<"ERR_REFUSED"> {
  const why = describeOrderDependence(featureId);
  return refusedError(
    "S17.1",
    `the event schema ${quoteText(schemaName)} cannot be priced from usage: ${why}; pass its events instead`,
  );
}

function rejectedRowError(path: string, message: string): RatebookError<"ERR_INPUT_INVALID"> {
  return new RatebookError("ERR_INPUT_INVALID", message, {
    problems: [rejection(path, "INVALID_USAGE", message)],
  });
}
