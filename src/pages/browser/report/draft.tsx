/** The effect of drafts: totals now and with the draft, what changes them, and what each account pays and why. */
import { Fragment, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import type {
  AmountChange,
  DraftAccount,
  DraftData,
  DraftLine,
  DraftTotal,
  ReportData,
} from "../../report/report-data.ts";
import { type Column, compareNames, DataTable, Table } from "../common/data-table.tsx";
import {
  compareDecimals,
  formatCount,
  formatDifference,
  formatMoney,
  formatNumber,
  formatPercent,
  formatPeriod,
  removeSign,
} from "../common/format.ts";
import { Histogram, Scatter } from "./draft-charts.tsx";
import { Fact, NotBilled, Problems } from "./summary.tsx";

/** The page of a backtest. */
export function Impact({ data }: { readonly data: ReportData }): JSX.Element {
  const { period, drafts, events, problems } = data;
  const [firstDraft, ...otherDrafts] = drafts;
  const title = `Impact of the price change${period === undefined ? "" : `, ${formatPeriod(period.from, period.until)}`}`;
  useEffect(() => {
    document.title = title;
  }, [title]);
  const { read = 0 } = events;
  return (
    <>
      <header class="page-head">
        <h1>{title}</h1>
        <p class="soft">
          {`${read === 0 ? "The same usage" : formatCount(read, "event")}, priced with the current plans and with `}
          {firstDraft === undefined || otherDrafts.length > 0 ? (
            formatCount(drafts.length, "draft")
          ) : (
            <bdi>
              {firstDraft.name === firstDraft.plan ? firstDraft.plan : `${firstDraft.plan} (${firstDraft.name})`}
            </bdi>
          )}
        </p>
      </header>
      <main class="stack">
        <NotBilled data={data} />
        {otherDrafts.length > 0 && <DraftList drafts={drafts} />}
        {drafts.map((draft, index) => (
          <Draft key={index} draft={draft} id={`draft-${index + 1}`} isOnly={otherDrafts.length === 0} />
        ))}
        <Problems problems={problems} />
      </main>
    </>
  );
}

/** The totals of all drafts side by side, with links to each. */
function DraftList({ drafts }: Pick<ReportData, "drafts">): JSX.Element {
  const rows = drafts.flatMap(({ name, totals }, index) => totals.map((total) => ({ ...total, name, index })));
  return (
    <nav class="panel" aria-labelledby="drafts">
      <h2 id="drafts">Drafts compared</h2>
      <ChangeTable
        label="Draft"
        rows={rows}
        currencyOf={({ currency }) => currency}
        name={({ name, index, ...total }) => (
          <>
            <a href={`#draft-${index + 1}`}>
              <bdi>{name}</bdi>
            </a>
            <span class="soft small cause">{describeCounts(total)}</span>
          </>
        )}
      />
    </nav>
  );
}

interface DraftProps {
  readonly draft: DraftData;
  /** The id of its heading. */
  readonly id: string;
  /** Whether the heading of the page names it. */
  readonly isOnly?: boolean;
}

/** What one draft would change. */
export function Draft({ draft, id, isOnly = false }: DraftProps): JSX.Element {
  const { name, plan, totals, accounts, more, leftOut } = draft;
  return (
    <section class="stack" aria-labelledby={id}>
      <header class={isOnly ? "hidden-text" : "draft-head"}>
        <h2 id={id} tabIndex={-1}>
          Draft <bdi>{name}</bdi>
        </h2>
        {name !== plan && (
          <p class="soft">
            <bdi>{plan}</bdi>
          </p>
        )}
      </header>
      {totals.length === 0 && (
        <p class="panel">
          Nothing is billed, neither now nor with the draft. Check that the usage is within the time in which accounts
          have plans, or choose other days with <code>--from</code> and <code>--until</code>.
        </p>
      )}
      {totals.map((total) => (
        <DraftCurrency
          key={total.currency}
          total={total}
          accounts={accounts.filter(({ currency }) => currency === total.currency)}
          suffix={totals.length === 1 ? "" : ` in ${total.currency}`}
          name={name}
        />
      ))}
      {more > 0 && (
        <p>{`${formatCount(more, "account")} with smaller differences left out: page too large. The totals include them.`}</p>
      )}
      {leftOut.length > 0 && (
        <p class="notice">
          Left out, as the draft has no prices in their currency: <bdi>{leftOut.slice(0, 50).join(", ")}</bdi>
          {leftOut.length > 50 ? ` and ${formatNumber(leftOut.length - 50)} more` : ""}
        </p>
      )}
    </section>
  );
}

interface DraftCurrencyProps {
  readonly total: DraftTotal;
  readonly accounts: readonly DraftAccount[];
  /** Names the currency in titles if there are several. */
  readonly suffix: string;
  /** The name of the draft. */
  readonly name: string;
}

/** The number of accounts from which charts say more than the table. */
const CHARTS_FROM = 10;

function DraftCurrency({ total, accounts, suffix, name }: DraftCurrencyProps): JSX.Element {
  const { currency, before, after, difference, percent, more, same, less, items } = total;
  const hasCharts = more + less > 0 && accounts.length >= CHARTS_FROM;
  return (
    <>
      <dl class="facts" aria-label={`Totals${suffix}`}>
        <Fact label={`Now${suffix}`} value={formatMoney(before, currency)} notes={[]} />
        <Fact label="With the draft" value={formatMoney(after, currency)} notes={[]} />
        <Fact
          label="Difference"
          value={formatDifference(difference, currency)}
          notes={percent === undefined ? [] : [formatPercent(percent)]}
          isMain
        />
        <Fact label="Accounts" value={formatNumber(more + same + less)} notes={[describeCounts(total)]} />
      </dl>
      {items.length === 0 ? (
        <section class="panel">
          <h3>No account pays more or less</h3>
          <p>
            The draft charges each account what it pays now. If you expected a difference, check that the draft changes
            a price that this usage reaches.
          </p>
        </section>
      ) : (
        <section class="panel" aria-label={`What changes the total${suffix}: ${name}`}>
          <h3>{`What changes the total${suffix}`}</h3>
          <LineTable lines={items} total={total} currency={currency} />
        </section>
      )}
      {hasCharts && (
        <div class="charts">
          <Histogram accounts={accounts} total={total} />
          <Scatter accounts={accounts} total={total} />
        </div>
      )}
      <Accounts accounts={accounts} total={total} suffix={suffix} name={name} />
    </>
  );
}

function describeCounts({ more, less, same }: DraftTotal): string {
  return [
    ...(more > 0 ? [`${formatNumber(more)} ${more === 1 ? "pays" : "pay"} more`] : []),
    ...(less > 0 ? [`${formatNumber(less)} ${less === 1 ? "pays" : "pay"} less`] : []),
    ...(same > 0 ? [`${formatNumber(same)} ${same === 1 ? "pays" : "pay"} the same`] : []),
  ].join(", ");
}

const DIRECTIONS = {
  all: { label: "All", matches: () => true },
  more: { label: "Pay more", matches: (account: DraftAccount) => findDirection(account) === "more" },
  less: { label: "Pay less", matches: (account: DraftAccount) => findDirection(account) === "less" },
} as const;

/** The accounts, all of them or those that pay more or less. */
function Accounts({ accounts, total, suffix, name }: DraftCurrencyProps): JSX.Element {
  const [direction, setDirection] = useState<keyof typeof DIRECTIONS>("all");
  const { more, same, less } = total;
  const counts = { all: more + same + less, more, less };
  const keys = (["all", "more", "less"] as const).filter((key) => key === "all" || counts[key] > 0);
  return (
    <section class="panel" aria-label={`Accounts${suffix}: ${name}`}>
      <h3>{`${more + less === 0 ? "What each account pays" : "Who pays more or less"}${suffix}`}</h3>
      {keys.length > 2 && (
        <div class="choices screen-only" role="group" aria-label="Accounts shown">
          {keys.map((key) => (
            <button key={key} type="button" aria-pressed={key === direction} onClick={() => setDirection(key)}>
              {DIRECTIONS[key].label} <span class="soft">{formatNumber(counts[key])}</span>
            </button>
          ))}
        </div>
      )}
      <DataTable
        key={direction}
        rowNoun="account"
        label={`Changes in ${total.currency} by ${name}`}
        rows={accounts.filter(DIRECTIONS[direction].matches)}
        columns={createColumns(total.currency, more + less > 0)}
        rowKey={({ id }) => id}
        searchText={({ id, name: accountName }) => `${id} ${accountName}`}
        placeholder="Search by name or id"
        initialSort="Difference"
        pageSize={10}
        detail={{
          label: (account) => `Why ${account.name} pays more or less`,
          canOpen: ({ lines }) => lines.length > 0,
          render: (account) => <LineTable lines={account.lines} total={account} currency={account.currency} />,
        }}
      />
    </section>
  );
}

function createColumns(currency: string, hasReasons: boolean): readonly Column<DraftAccount>[] {
  const reason = { label: "Main reason", class: "wide-only", cell: describeReason };
  return [
    {
      label: "Account",
      cell: (account) => (
        <>
          <bdi>{account.name}</bdi>
          {account.name !== account.id && <bdi class="id soft small">{account.id}</bdi>}
          <NarrowAmounts change={account} currency={currency} />
        </>
      ),
      compare: (a, b) => compareNames(a.name, b.name),
    },
    ...(hasReasons ? [reason] : []),
    ...createChangeColumns<DraftAccount>(() => currency),
  ];
}

/** The line that changes most in the direction of the account's total. */
function describeReason(account: DraftAccount): JSX.Element | null {
  const changed = account.lines.filter((line) => line.difference !== "0");
  const main = changed.find((line) => findDirection(line) === findDirection(account)) ?? changed[0];
  if (main === undefined) return null;
  const others = changed.length - 1;
  return (
    <span class="soft">
      <bdi>{main.label}</bdi>
      {others > 0 && ` ${formatDifference(main.difference, account.currency)} and ${formatNumber(others)} more`}
    </span>
  );
}

interface LineTableProps {
  readonly lines: readonly DraftLine[];
  readonly total: AmountChange;
  readonly currency: string;
}

/** Lines with their causes, and their total. */
function LineTable({ lines, total, currency }: LineTableProps): JSX.Element {
  return (
    <ChangeTable<AmountChange & Partial<DraftLine>>
      label="Item"
      rows={[...lines, total]}
      currencyOf={() => currency}
      name={({ label, causes = [] }) =>
        label === undefined ? (
          <strong>Total</strong>
        ) : (
          <>
            <bdi>{label}</bdi>
            <span class="soft small cause">{describeCauses(causes, currency)}</span>
          </>
        )
      }
    />
  );
}

/** Why a line changes: the only cause besides rounding by its name, or each with its amount. */
function describeCauses(causes: DraftLine["causes"], currency: string): JSX.Element | readonly JSX.Element[] {
  const [main, ...others] = causes.filter(({ label }) => label !== "rounding");
  const isSingle = causes.length === 1 || (main !== undefined && others.length === 0);
  if (isSingle) return <bdi>{(main ?? causes[0])?.label}</bdi>;
  return causes.map(({ label, amount }, index) => (
    <Fragment key={index}>
      {index > 0 && ", "}
      <bdi>{label}</bdi> <span class="amount">{formatDifference(amount, currency)}</span>
    </Fragment>
  ));
}

interface ChangeTableProps<Row> {
  /** What the rows are. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly currencyOf: (row: Row) => string;
  readonly name: (row: Row) => JSX.Element;
}

/** Amounts on both sides, their differences and percentages. */
function ChangeTable<Row extends AmountChange>({ label, rows, currencyOf, name }: ChangeTableProps<Row>): JSX.Element {
  const nameCell = (row: Row): JSX.Element => (
    <>
      {name(row)}
      <NarrowAmounts change={row} currency={currencyOf(row)} />
    </>
  );
  return (
    <div class="scroll">
      <Table
        class="items changes"
        rows={rows}
        columns={[{ label, cell: nameCell }, ...createChangeColumns(currencyOf)]}
      />
    </div>
  );
}

function createChangeColumns<Row extends AmountChange>(currencyOf: (row: Row) => string): readonly Column<Row>[] {
  const amountColumn = (label: string, field: "before" | "after"): Column<Row> => ({
    label,
    class: "number wide-only",
    cell: (row) => formatMoney(row[field], currencyOf(row)),
    compare: (a, b) => compareDecimals(a[field], b[field]),
  });
  return [
    amountColumn("Now", "before"),
    amountColumn("Draft", "after"),
    {
      label: "Difference",
      class: "number",
      cell: (row) => (
        <>
          <span class={findDirection(row)}>{formatDifference(row.difference, currencyOf(row))}</span>
          {row.percent !== undefined && <span class="narrow-only soft small">{formatPercent(row.percent)}</span>}
        </>
      ),
      compare: (a, b) => compareDecimals(removeSign(a.difference), removeSign(b.difference)),
    },
    {
      label: "Percent",
      class: "number wide-only",
      cell: ({ percent }) => <span class="soft">{percent !== undefined && formatPercent(percent)}</span>,
      compare: (a, b) => compareDecimals(removeSign(a.percent ?? "0"), removeSign(b.percent ?? "0")),
    },
  ];
}

/** Both amounts below a name, where narrow screens have no columns for them. */
function NarrowAmounts({
  change,
  currency,
}: {
  readonly change: AmountChange;
  readonly currency: string;
}): JSX.Element {
  return (
    <span class="narrow-only soft small">{`${formatMoney(change.before, currency)} to ${formatMoney(change.after, currency)}`}</span>
  );
}

/** The class that colors an amount that goes up or down. */
function findDirection({ difference }: AmountChange): string {
  return difference === "0" ? "soft" : difference.startsWith("-") ? "less" : "more";
}
