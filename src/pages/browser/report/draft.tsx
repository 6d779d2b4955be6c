/**
 * The effect of a draft: old and new amounts, the distribution of differences, and their causes.
 *
 * @module
 */
import type { JSX } from "preact";

import type { AmountChange, DraftAccount, DraftData, DraftTotal } from "../../report/report-data.ts";
import { type Column, compareNames, DataTable, TableHead } from "../common/data-table.tsx";
import {
  compareDecimals,
  formatCount,
  formatMoney,
  formatNumber,
  formatPercent,
  removeSign,
} from "../common/format.ts";
import { Histogram, Scatter } from "./draft-charts.tsx";

export function Draft({ draft }: { readonly draft: DraftData }): JSX.Element {
  const { name, totals, accounts, more, leftOut } = draft;
  return (
    <section aria-label={`Draft ${name}`}>
      <h2>
        Draft <bdi>{name}</bdi>
      </h2>
      {totals.length === 0 && <p>Nothing is billed, neither on the current plans nor on the draft.</p>}
      {totals.map((total) => (
        <DraftCurrency
          key={total.currency}
          total={total}
          accounts={accounts.filter(({ currency }) => currency === total.currency)}
          isOnlyCurrency={totals.length === 1}
          label={`Changes in ${total.currency} by ${name}`}
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
  readonly isOnlyCurrency: boolean;
  readonly label: string;
}

function DraftCurrency({ total, accounts, isOnlyCurrency, label }: DraftCurrencyProps): JSX.Element {
  const { currency, digits, before, after, more, same, less, quantiles } = total;
  const toMoneyText = (value: string): string => formatMoney(value, { digits });
  return (
    <>
      {!isOnlyCurrency && <h3>{currency}</h3>}
      <dl class="cards">
        <div class="figure">
          <dt>Now</dt>
          <dd>{toMoneyText(before)}</dd>
          <dd>{currency}</dd>
        </div>
        <div class="figure">
          <dt>On the draft</dt>
          <dd>{toMoneyText(after)}</dd>
          <dd>{formatChange(total, digits)}</dd>
        </div>
        <div class="figure">
          <dt>Accounts</dt>
          <dd>{formatNumber(more + same + less)}</dd>
          <dd>{`${formatNumber(more)} ${more === 1 ? "pays" : "pay"} more, ${formatNumber(same)} the same, ${formatNumber(less)} less`}</dd>
        </div>
      </dl>
      {accounts.length > 1 && (
        <div class="charts">
          <Scatter accounts={accounts} currency={currency} digits={digits} />
          <Histogram accounts={accounts} currency={currency} />
        </div>
      )}
      {more + same + less > 2 && (
        <table class="quantiles">
          <caption>This share of the accounts changes by no more than</caption>
          <TableHead
            columns={quantiles.map(({ percent }) => ({ label: `${formatNumber(percent)} %`, class: "number" }))}
          />
          <tbody>
            <tr>
              {quantiles.map(({ percent, difference }) => (
                <td key={percent} class="number">
                  {formatMoney(difference, { digits, hasPlusSign: true })}
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      )}
      <h3>Largest changes</h3>
      <DataTable
        rowNoun="account"
        label={label}
        rows={accounts}
        columns={createColumns(digits)}
        rowKey={({ id }) => id}
        searchText={({ id, name }) => `${id} ${name}`}
        placeholder="Search by name or id"
        initialSort="difference"
        pageSize={10}
      />
    </>
  );
}

function createColumns(digits: number): readonly Column<DraftAccount>[] {
  const amountColumn = (name: "before" | "after", label: string): Column<DraftAccount> => ({
    name,
    label,
    isNumber: true,
    isWideOnly: true,
    cell: (row) => formatMoney(row[name], { digits }),
    compare: (a, b) => compareDecimals(a[name], b[name]),
  });
  return [
    {
      name: "name",
      label: "Account",
      cell: (account) => <Causes account={account} digits={digits} />,
      compare: (a, b) => compareNames(a.name, b.name),
    },
    amountColumn("before", "Now"),
    amountColumn("after", "Draft"),
    {
      name: "difference",
      label: "Difference",
      isNumber: true,
      cell: (row) => formatChange(row, digits),
      compare: (a, b) => compareDecimals(removeSign(a.difference), removeSign(b.difference)),
    },
  ];
}

function formatChange({ difference, percent }: AmountChange, digits: number): string {
  const text = formatMoney(difference, { digits, hasPlusSign: true });
  return percent === undefined ? text : `${text} (${formatPercent(percent)})`;
}

/** An account that expands to the causes of each changed line. */
function Causes({ account, digits }: { readonly account: DraftAccount; readonly digits: number }): JSX.Element {
  const { name, id, lines, before, after } = account;
  if (lines.length === 0) return <bdi>{name}</bdi>;
  return (
    <details>
      <summary>
        <bdi>{name}</bdi>
        {name !== id && (
          <span class="soft small">
            {" "}
            <bdi>{id}</bdi>
          </span>
        )}
        <span class="narrow-only soft small">
          {formatMoney(before, { digits })} to {formatMoney(after, { digits })}
        </span>
      </summary>
      <ul class="causes">
        {lines.map((line, index) => (
          <li key={index}>
            <bdi>{line.label}</bdi>: {formatMoney(line.before, { digits })} to {formatMoney(line.after, { digits })}
            {line.causes.length > 0 && (
              <span class="soft small">
                {" "}
                {line.causes
                  .map((cause) => `${cause.label} ${formatMoney(cause.amount, { digits, hasPlusSign: true })}`)
                  .join(", ")}
              </span>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
