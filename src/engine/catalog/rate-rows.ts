/** Adds rows to the price table of a plan version in use (S18.8). */
import { readRequest } from "../../book/reading/read-request.ts";
import type { Maybe } from "../../book/resources/fields.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { type RateRow, type RateRowsRequest, type RateTable, whenKey } from "../../book/resources/rate-table.ts";
import { formatDate, type Instant, parseDate, startOfUtcDay } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import { findClosedEnd } from "../../ledger/account/open-cycles.ts";
import { invalidInputError, refusedError } from "../../ledger/refusals.ts";
import { quoteText, describeStatus } from "../../problem-table.ts";
import { readAllAccounts } from "../all-accounts.ts";
import { findItem } from "../configuration.ts";
import {
  changeConfigured,
  type ConfigurationChange,
  type ConfigurationState,
  requireDocument,
  type StoredResource,
} from "../configured-resources.ts";
import { type Body, type DocumentOf, toPlainInput } from "../documents.ts";
import type { EngineContext } from "../methods.ts";
import { patchDocument } from "./resource-methods.ts";

type PlanDocument = DocumentOf<"pricePlan">;
/** A usage card as stored. */
type StoredCard = Body & { readonly rateTable?: Maybe<Body & { readonly rows: readonly unknown[] }> };

/**
 * Adds rows at the end of a table, so that the places of the others stay. The whole plan is checked with them.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID, ERR_NOT_FOUND for a plan or version, ERR_REFUSED for a version that is not
 * ACTIVE
 */
export function addRateRows(
  context: EngineContext,
  id: string,
  input: RateRowsRequest,
): Promise<StoredResource<PricePlan>> {
  const { rows, usageMeterId, version } = readRequest("rateRows", input);
  return changeConfigured(context, "pricePlan", async (state): Promise<ConfigurationChange> => {
    const document = requireActiveVersion(id, version ?? undefined, state);
    const { place, table } = requireTable(document, usageMeterId, state);
    await checkFirstDays(rows, table, document, state);
    const details = document.body.pricePlanDetails ?? {};
    const usageRateCards = (details["usageRateCards"] as readonly StoredCard[]).map((card, index) => {
      if (index !== place) return card;
      const { rateTable } = card;
      return { ...card, rateTable: { ...rateTable, rows: [...(rateTable?.rows ?? []), ...input.rows] } };
    });
    const pricePlanDetails = toPlainInput({ ...details, usageRateCards });
    // Without this field, the last change of a version was its activation.
    const activatedAt = document.body.activatedAt ?? document.updatedAt;
    return { documents: [patchDocument(document, { pricePlanDetails, activatedAt }, state.now)] };
  });
}

/** The version that gets the rows: default the latest ACTIVE one. */
function requireActiveVersion(
  id: string,
  version: number | undefined,
  { before }: Pick<ConfigurationState, "before">,
): PlanDocument {
  const active = before.documents.pricePlan.filter(({ body }) => body.id === id && body.status === "ACTIVE");
  const latest = active.length === 0 ? undefined : Math.max(...active.map(({ body }) => body.version));
  const document = requireDocument(before, "pricePlan", id, version ?? latest);
  const { status } = document.body;
  if (status === "ACTIVE") return document;
  const cure = status === "DRAFT" ? "; update the draft" : "";
  const subject = `version ${document.body.version} of ${quoteText(id)} is ${describeStatus(status)}`;
  throw refusedError("S18.8", `${subject}; rows can be added only to an active version${cure}`);
}

/** The price table for a meter in a version, and the index of its card. */
function requireTable(
  { id: documentId, body: { id, version } }: PlanDocument,
  usageMeterId: string,
  { before: { documents, catalog } }: Pick<ConfigurationState, "before">,
): { readonly place: number; readonly table: RateTable } {
  const plan = findItem("pricePlan", documentId, documents, catalog.book);
  invariant(plan !== undefined, "a document of the configuration has its item in the book");
  const names = new Map(catalog.book.usageMeters.map((meter) => [meter.id, meter.name]));
  const { usageRateCards } = plan.pricePlanDetails;
  const place = usageRateCards.findIndex((card) =>
    [card.usageMeterId, names.get(card.usageMeterId)].includes(usageMeterId),
  );
  const table = usageRateCards[place]?.rateTable;
  if (table) return { place, table };
  const reason = `version ${version} of ${quoteText(id)} has no price table for ${quoteText(usageMeterId)}`;
  throw invalidInputError("usageMeterId", "NOT_ACCEPTED", `${reason}; make a new version of the plan`);
}

/**
 * Rows price no day before today, unless no row had their `when`: then no day of a closed cycle of an account on the
 * version, so that no final invoice changes.
 */
async function checkFirstDays(
  rows: readonly RateRow[],
  table: RateTable,
  { body: plan }: PlanDocument,
  { before, view, now }: ConfigurationState,
): Promise<void> {
  const today = startOfUtcDay(now);
  const conditions = new Set(table.rows.map(({ when }) => whenKey(when ?? {})));
  const pastRows = rows
    .map((row, index) => ({ ...row, index, day: row.from ? parseDate(row.from) : Number.NEGATIVE_INFINITY }))
    .filter(({ day }) => day < today);
  if (pastRows.length === 0) return;
  const requireDay = (first: Instant, reason: string, selected: typeof pastRows): void => {
    const early = selected.find(({ day }) => day < first);
    if (early === undefined) return;
    const message = `expected ${formatDate(first)} or later, because ${reason}, got ${early.from ?? "no date"}`;
    throw invalidInputError(`rows[${early.index}].from`, "DATE_NOT_ALLOWED", message);
  };
  const isChange = ({ when }: RateRow): boolean => conditions.has(whenKey(when ?? {}));
  requireDay(today, "the table has a row with the same when", pastRows.filter(isChange));
  const since = Math.min(...pastRows.map(({ day }) => day));
  let closed = { end: Number.NEGATIVE_INFINITY, accountId: "" };
  for await (const record of readAllAccounts(view)) {
    const end = findClosedEnd(before.catalog, record, { since, now }, plan);
    if (end > closed.end) closed = { end, accountId: record.id };
  }
  requireDay(closed.end, `earlier cycles of the account ${quoteText(closed.accountId)} are closed`, pastRows);
}
