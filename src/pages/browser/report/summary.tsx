/** The summary: the main figures, what was not billed, charges by day and by item, usage by day. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { describeEventCount } from "../../not-billed.ts";
import type { ChargeDays, CurrencyTotal, ReportData, UsageDays } from "../../report/report-data.ts";
import { DayChart, Swatch } from "../common/charts.tsx";
import { Aligned, type Column, Table } from "../common/data-table.tsx";
import {
  countDays,
  countDecimals,
  formatAxisValue,
  formatCount,
  formatMoney,
  formatNumber,
  formatShare,
  roundQuantity,
} from "../common/format.ts";

/** Statuses that are no problem, or that {@link ReportData.notBilled} explains, with their number in the summary. */
const COUNTED_STATUSES = [
  "INGESTION_FAILED_DUPLICATE_EVENT",
  "INGESTION_COMPLETED_NO_MATCHING_METERS",
  "INGESTION_COMPLETED_EVENT_NOT_METERED",
];
const BILLED_STATUSES: ReadonlySet<string> = new Set(["INGESTION_COMPLETED_EVENT_METERED", ...COUNTED_STATUSES]);

/** The figures at the top. */
export function Facts({ data }: { readonly data: ReportData }): JSX.Element | null {
  const { totals, events, period, withoutUsage } = data;
  const { read = 0 } = events;
  const [firstTotal] = totals;
  const isOnlyCurrency = firstTotal !== undefined && totals.length === 1;
  const accountCount = totals.reduce((count, { accounts }) => count + accounts, 0);
  if (accountCount === 0 && read === 0) return null;
  const days = period === undefined ? 0 : countDays(period.from, period.until);
  const eventNotes = [
    ...(days > 0 ? [`${formatNumber(Math.round(read / days))} a day`] : []),
    ...COUNTED_STATUSES.flatMap((status) =>
      events[status] === undefined ? [] : [describeEventCount(status, events[status], formatNumber)],
    ),
  ];
  return (
    <dl class="facts" aria-label="Summary">
      {totals.map((total) => (
        <Fact
          key={total.currency}
          label={isOnlyCurrency ? "Invoiced" : `Invoiced in ${total.currency}`}
          value={formatMoney(total.amount, total.currency)}
          notes={isOnlyCurrency ? [describeInvoices(total)] : [describeInvoices(total), describeLargest(total)]}
          isMain
        />
      ))}
      {accountCount > 1 && (
        <Fact
          label="Accounts"
          value={formatNumber(accountCount)}
          notes={withoutUsage > 0 && withoutUsage < accountCount ? [`${formatNumber(withoutUsage)} without usage`] : []}
        />
      )}
      {read > 0 && <Fact label="Events" value={formatNumber(read)} notes={eventNotes} />}
      {isOnlyCurrency && firstTotal.invoices > 1 && (
        <Fact
          label="Largest invoice"
          value={formatMoney(firstTotal.largest.amount, firstTotal.currency)}
          notes={[describeShare(firstTotal.largest)]}
        />
      )}
    </dl>
  );
}

interface FactProps {
  readonly label: string;
  readonly value: string;
  readonly notes: readonly string[];
  readonly isMain?: boolean;
}

/** A figure with its name and notes. */
export function Fact({ label, value, notes, isMain = false }: FactProps): JSX.Element {
  return (
    <div class={isMain ? "fact main" : "fact"}>
      <dt>{label}</dt>
      <dd>{value}</dd>
      {notes.map((note) => (
        <dd key={note}>
          <bdi>{note}</bdi>
        </dd>
      ))}
    </div>
  );
}

function describeInvoices({ invoices, credits, currency }: CurrencyTotal): string {
  const paid = credits === undefined ? "" : `, ${formatMoney(credits, currency)} paid with credits`;
  return `${formatCount(invoices, "invoice")}${paid}`;
}

function describeShare({ label, share }: CurrencyTotal["largest"]): string {
  return share === undefined ? label : `${label}, ${formatShare(share)} of all`;
}

function describeLargest({ largest, currency }: CurrencyTotal): string {
  return `the largest ${formatMoney(largest.amount, currency)}: ${describeShare(largest)}`;
}

/** The usage that no invoice has, and why. */
export function NotBilled({ data }: { readonly data: ReportData }): JSX.Element {
  const { events, problems, notBilled, notices } = data;
  const { read = 0, ...statuses } = events;
  const rejected = Object.entries(statuses).filter(([status, count]) => !BILLED_STATUSES.has(status) && count > 0);
  const count = rejected.reduce((sum, [, each]) => sum + each, 0);
  const mistakes = notBilled.filter(({ reason }) => reason !== "NO_CARD");
  return (
    <>
      {count + mistakes.length > 0 && (
        <section class="alert" aria-label="Not billed">
          {mistakes.map((each) => (
            <Reason key={each.title} notBilled={each} />
          ))}
          {count > 0 && (
            <p>
              <strong>
                {`${formatCount(count, "event")} (${formatShare(count / Math.max(1, read))}) ${count === 1 ? "was" : "were"} rejected or not billed:`}
              </strong>{" "}
              {rejected.map(([status, each]) => describeEventCount(status, each, formatNumber)).join(", ")}.{" "}
              {problems.count > 0 && (
                <a class="screen-only" href="#problems" onClick={(event) => scrollToProblems(event)}>
                  Show the problems
                </a>
              )}
            </p>
          )}
        </section>
      )}
      {notBilled.map(
        (each) =>
          each.reason === "NO_CARD" && (
            <div class="notice" key={each.title}>
              <Reason notBilled={each} />
            </div>
          ),
      )}
      {notices.map((notice) => (
        <p class="notice" key={notice}>
          <bdi>{notice}</bdi>
        </p>
      ))}
    </>
  );
}

/** The number of values that are shown before the list of all is opened. */
const VALUES_SHOWN = 3;

function Reason({ notBilled }: { readonly notBilled: ReportData["notBilled"][number] }): JSX.Element {
  const { title, items, others } = notBilled;
  const more = items.slice(VALUES_SHOWN);
  return (
    <>
      <p>
        <strong>
          <bdi>{title}</bdi>
        </strong>{" "}
        {items.slice(0, VALUES_SHOWN).map(({ label, amount }, index) => (
          <span key={label}>
            {index > 0 && ", "}
            <code>{label}</code> ({amount})
          </span>
        ))}
        {more.length === 0 && others > 0 && ` and ${formatCount(others, "other")}`}
      </p>
      {more.length > 0 && (
        <details>
          <summary>{`Show ${formatNumber(more.length)} more`}</summary>
          <ul>
            {more.map(({ label, amount }) => (
              <li key={label}>
                <code>{label}</code> ({amount})
              </li>
            ))}
            {others > 0 && <li>{`and ${formatCount(others, "other")}`}</li>}
          </ul>
        </details>
      )}
    </>
  );
}

/** Scrolls without changing the URL, which selects the account. */
function scrollToProblems(event: Event): void {
  event.preventDefault();
  document.getElementById("problems")?.scrollIntoView();
}

/** The first invalid lines and events. */
export function Problems({ problems: { first, count } }: Pick<ReportData, "problems">): JSX.Element | null {
  if (count === 0) return null;
  const more = count - first.length;
  return (
    <section class="panel" aria-labelledby="problems">
      <h2 id="problems">{formatCount(count, "problem")}</h2>
      <ul class="problems">
        {first.map(({ place, message }, index) => (
          <li key={index}>
            <bdi>{place}</bdi>: <bdi>{message}</bdi>
          </li>
        ))}
      </ul>
      {more > 0 && <p class="soft">{`and ${formatNumber(more)} more`}</p>}
    </section>
  );
}

/** The number of items that are shown first. */
const ITEMS_SHOWN = 8;

interface CurrencyChargesProps {
  readonly total: CurrencyTotal;
  readonly charges: ChargeDays | undefined;
  /** Names the currency in titles if there are several. */
  readonly suffix: string;
}

/** The charges of one currency by day, beside its items. */
export function CurrencyCharges(props: CurrencyChargesProps): JSX.Element | null {
  const { total, charges, suffix } = props;
  if (total.cards.length === 0) return null;
  return (
    <div class={charges === undefined ? "" : "two"}>
      {charges !== undefined && (
        <DayChart
          title={`Charged by day${suffix}`}
          note="Usage only: fees and credits have no day."
          from={charges.from}
          series={charges.series.map(({ label, others, amounts }) => ({
            label: others === undefined ? label : formatCount(others, "other"),
            values: amounts,
            isOther: others !== undefined,
          }))}
          formatValue={(value) => formatMoney(value, total.currency)}
          formatTick={(value) => formatAxisValue(value, total.currency)}
          height={Math.min(400, Math.max(240, 100 + 36 * Math.min(total.cards.length, ITEMS_SHOWN)))}
          hasBars
        />
      )}
      <Items {...props} />
    </div>
  );
}

function Items({ total, charges, suffix }: CurrencyChargesProps): JSX.Element {
  const { cards, currency } = total;
  const [isWhole, setWhole] = useState(false);
  const title = `By item${suffix}, before credits`;
  const more = cards.length - ITEMS_SHOWN;
  const series = new Map(charges?.series.map(({ label }, index) => [label, `series-${index + 1}`]));
  const rows = cards.map((card, index) => ({
    ...card,
    quantity: card.quantity === undefined ? undefined : roundQuantity(card.quantity),
    isHidden: !isWhole && more > 1 && index >= ITEMS_SHOWN,
  }));
  const most = Math.max(...rows.map(({ quantity = "" }) => countDecimals(quantity)));
  const columns: readonly Column<(typeof rows)[number]>[] = [
    {
      label: "Item",
      cell: ({ label, quantity, unit = "" }) => (
        <>
          {charges !== undefined && <Swatch series={series.get(label) ?? "series-none"} />}
          <bdi>{label}</bdi>
          {quantity !== undefined && <span class="narrow-only soft small">{`${formatNumber(quantity)} ${unit}`}</span>}
        </>
      ),
    },
    {
      label: "Quantity",
      class: "number wide-only",
      cell: ({ quantity }) =>
        quantity !== undefined && <Aligned text={formatNumber(quantity)} shown={countDecimals(quantity)} most={most} />,
    },
    { label: <span class="hidden-text">Unit</span>, class: "unit wide-only", cell: ({ unit }) => unit },
    { label: "Charge", class: "number", cell: ({ amount }) => formatMoney(amount, currency) },
    { label: "Share", class: "number", cell: ({ share }) => share !== undefined && formatShare(share) },
  ];
  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      <div class="scroll">
        <Table
          class={charges === undefined ? "items" : "items with-swatches"}
          columns={columns}
          rows={rows}
          rowClass={({ isHidden }) => (isHidden ? "only-printed" : "")}
        />
      </div>
      {more > 1 && (
        <button type="button" class="link screen-only" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show fewer items" : `Show ${formatCount(more, "more item")}`}
        </button>
      )}
    </section>
  );
}

/** The usage of each meter. */
export function UsageCharts({ usage }: { readonly usage: readonly UsageDays[] }): JSX.Element {
  return (
    <div class="charts">
      {usage.map(({ label, from, quantities }, index) => (
        <DayChart
          key={index}
          title={label}
          from={from}
          series={[{ label, values: quantities, isOther: true }]}
          formatValue={formatNumber}
          height={130}
          hasBars
        />
      ))}
    </div>
  );
}
