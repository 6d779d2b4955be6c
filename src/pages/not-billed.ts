/** What became of events, in words: their number by outcome, and usage that no invoice bills, and why. */
import type { Book } from "../book/resources/book.ts";
import { groupThousands, groupThousandsIn } from "../invoicing/invoice-rows.ts";
import { type Invoice, invoiceParts } from "../invoicing/invoice.ts";
import type { IngestStatus } from "../ledger/outcome.ts";
import type { UnmeteredEvents } from "../metering/unmetered-events.ts";
import { sum } from "../numbers/decimal.ts";
import { groupBy } from "../numbers/ids.ts";
import type { UnpricedUsage } from "../rating/charge.ts";
import { describeUnits } from "../rating/table-charge.ts";
import { toPrintable } from "./printable.ts";

/** The words that follow the number of events: for one event, and for several if they differ. */
const OUTCOME_WORDS: Readonly<Record<IngestStatus | "BAD_LINE", readonly [one: string, several?: string]>> = {
  BAD_LINE: ["unreadable"],
  INGESTION_REFUSED: ["malformed"],
  INGESTION_FAILED_DUPLICATE_EVENT: ["duplicate", "duplicates"],
  INGESTION_FAILED_ACCOUNT_NOT_FOUND: ["for an unknown account", "for unknown accounts"],
  INGESTION_FAILED_SCHEMA_NOT_DEFINED: ["with an unknown event schema", "with unknown event schemas"],
  INGESTION_FAILED: ["invalid"],
  INGESTION_FAILED_PAST_GRACE_PERIOD: ["too late"],
  INGESTION_FAILED_ENRICHMENT_FAILED: ["with a field that can't be computed", "with fields that can't be computed"],
  INGESTION_FAILED_UNITS_INVALID: ["with an invalid quantity", "with invalid quantities"],
  INGESTION_FAILED_INSUFFICIENT_CREDITS: ["without enough feature credits"],
  INGESTION_COMPLETED_NO_MATCHING_METERS: ["without a meter for its schema", "without a meter for their schema"],
  INGESTION_COMPLETED_EVENT_NOT_METERED: ["matched no meter"],
  INGESTION_COMPLETED_EVENT_NOT_BILLED: ["without a price plan"],
  INGESTION_COMPLETED_EVENT_METERED: ["metered"],
};

/** Describes the number of events with one outcome: `613 matched no meter`. */
export function describeEventCount(
  status: string,
  count: number,
  formatNumber: (count: number) => string = String,
): string {
  const words = OUTCOME_WORDS as Readonly<Record<string, readonly [string, string?] | undefined>>;
  const [one, several = one] = words[status] ?? [status];
  return `${formatNumber(count)} ${count === 1 ? one : several}`;
}

/** Usage that is not billed for one reason, of one event schema or meter. Texts are printable lines. */
export interface NotBilled {
  /** NO_METER and NO_ROW are probably mistakes; a meter without a rate card may serve metrics only. */
  readonly reason: "NO_METER" | "NO_ROW" | "NO_CARD";
  /** As in `613 events (0.05 %) of "completion" were not billed: no meter matched`. */
  readonly title: string;
  /** What no meter or price matched, the most first; at most {@link ITEMS_SHOWN_MAX}. */
  readonly items: readonly NotBilledItem[];
  /** The number of items left out. */
  readonly others: number;
}

/** Some of the usage that is not billed. */
export interface NotBilledItem {
  /** As in `model = "nova-nano"`. */
  readonly label: string;
  /** As in `571 events, 12 accounts`. */
  readonly amount: string;
}

/** Maximum number of items listed of one event schema or meter. */
const ITEMS_SHOWN_MAX = 20;

/** What usage is not billed is found in. */
export interface NotBilledInput {
  readonly book: Pick<Book, "usageMeters">;
  /** The number of events read. */
  readonly read: number;
  readonly unmetered?: readonly UnmeteredEvents[] | undefined;
  readonly invoices?: readonly Pick<Invoice, "accountId" | "unpriced" | "usageInfo" | "revenueInfo">[];
}

/** Lists usage that is not billed: events without a meter first, then usage without a row or a card. */
export function listNotBilled({ book, read, unmetered = [], invoices = [] }: NotBilledInput): readonly NotBilled[] {
  const unpriced = invoices.flatMap(({ accountId, unpriced: usage = [] }) =>
    usage.map((each) => ({ ...each, accountId })),
  );
  return [
    ...[...groupBy(unmetered, ({ schemaName }) => schemaName).values()].map((events) => listEvents(book, events, read)),
    ...listUnpriced(unpriced),
    ...listWithoutCard(invoices),
  ];
}

function listEvents(
  { usageMeters }: NotBilledInput["book"],
  unmetered: readonly UnmeteredEvents[],
  read: number,
): NotBilled {
  const total = unmetered.reduce((count, { events }) => count + events, 0);
  const schemaName = unmetered[0]?.schemaName ?? "";
  const items = unmetered.filter(({ values }) => values === undefined || Object.keys(values).length > 0);
  const meters = usageMeters.filter((meter) => meter.status === "ACTIVE" && meter.eventSchemaName === schemaName);
  const subject = `${formatCount(total, "event")}${formatShare(total, read)} of ${JSON.stringify(schemaName)}`;
  const reason =
    meters.length === 0 ? "no meter is for this event schema" : `no meter matched${items.length === 0 ? " them" : ""}`;
  return toNotBilled(
    "NO_METER",
    `${subject} ${total === 1 ? "was" : "were"} not billed: ${reason}`,
    items.map(({ values, events, accounts }) => ({
      label: values === undefined ? "other values" : formatValues(values),
      amount: formatAmount(formatCount(events, "event"), accounts),
    })),
  );
}

/** Lists usage that no row of a price table prices (S18.2). */
export function listUnpriced(
  unpriced: readonly (UnpricedUsage & { readonly accountId?: string })[],
): readonly NotBilled[] {
  const toQuantity = (usage: typeof unpriced): UnpricedUsage["quantity"] => sum(usage.map(({ quantity }) => quantity));
  const formatUnits = (usage: typeof unpriced): string => groupThousandsIn(describeUnits(toQuantity(usage)));
  return [...groupBy(unpriced, ({ meterId }) => meterId)].map(([meterId, usage]) =>
    toNotBilled(
      "NO_ROW",
      `${formatUnits(usage)} of ${meterId} without a price: no row of the price table matched`,
      [...groupBy(usage, ({ group }) => formatValues(group))]
        .sort(([, a], [, b]) => toQuantity(b).comparedTo(toQuantity(a)))
        .map(([label, same]) => ({ label, amount: formatAmount(formatUnits(same), countAccounts(same)) })),
    ),
  );
}

/** Lists the meters with usage for which the plans of their accounts have no card. */
function listWithoutCard(invoices: NonNullable<NotBilledInput["invoices"]>): readonly NotBilled[] {
  const usage = invoices.flatMap((invoice) =>
    invoiceParts(invoice)
      .unpriced.filter(({ quantity }) => !quantity.isZero())
      .map(({ id }) => ({ id, accountId: invoice.accountId })),
  );
  const meters = [...groupBy(usage, ({ id }) => id)];
  if (meters.length === 0) return [];
  return [
    toNotBilled(
      "NO_CARD",
      `usage of ${formatCount(meters.length, "meter")} was not billed: the price plan has no rate card for`,
      meters.map(([id, same]) => ({ label: id, amount: formatAmount("", countAccounts(same)) })),
    ),
  ];
}

function countAccounts(usage: readonly { readonly accountId?: string }[]): number | undefined {
  return new Set(usage.flatMap(({ accountId }) => accountId ?? [])).size || undefined;
}

function toNotBilled(reason: NotBilled["reason"], title: string, items: readonly NotBilledItem[]): NotBilled {
  const shown = items.slice(0, ITEMS_SHOWN_MAX).map(({ label, amount }) => ({ label: toPrintable(label), amount }));
  return { reason, title: toPrintable(title), items: shown, others: items.length - shown.length };
}

/** One sentence: the title, the items and the number of others. */
export function describeNotBilled({ title, items, others }: NotBilled): string {
  const list = items.map(({ label, amount }) => `${label} (${amount})`).join(", ");
  return `${title}${list === "" ? "" : ` ${list}`}${others === 0 ? "" : ` and ${formatCount(others, "other")}`}`;
}

function formatValues(values: Readonly<Record<string, string>>): string {
  const texts = Object.entries(values).map(([dimension, value]) => `${dimension} = ${JSON.stringify(value)}`);
  return texts.join(" and ") || "other usage";
}

function formatAmount(amount: string, accounts: number | undefined): string {
  return [amount, accounts === undefined ? "" : formatCount(accounts, "account")]
    .filter((text) => text !== "")
    .join(", ");
}

function formatCount(count: number, noun: string): string {
  return `${groupThousands(String(count))} ${noun}${count === 1 ? "" : "s"}`;
}

/** The share of the events read: ` (0.05 %)`. */
function formatShare(count: number, read: number): string {
  const percent = (100 * count) / Math.max(read, count);
  return ` (${percent < 0.01 ? "less than 0.01" : String(Number(percent.toPrecision(2)))} %)`;
}
