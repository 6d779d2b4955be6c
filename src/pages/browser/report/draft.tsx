/**
 * What a draft would change: old against new, how differences are spread, and why.
 *
 * @module
 */
import type { JSX } from "preact";

import type { Compared, DraftAccount, DraftData, DraftTotal } from "../../report/report-data.ts";
import { type Column, compareNames, DataTable } from "../look/data-table.tsx";
import { compareDecimals, magnitude } from "../look/decimals.ts";
import { counted, moneyText, numberText, percentText } from "../look/figures.ts";
import { Histogram } from "./histogram.tsx";
import { Scatter } from "./scatter.tsx";

/** One draft. */
export function Draft({ draft }: { readonly draft: DraftData }): JSX.Element {
  const { name, totals, accounts, more, leftOut } = draft;
  return (
    <section aria-label={`Draft ${name}`}>
      <h2>
        Draft <bdi>{name}</bdi>
      </h2>
      {totals.length === 0 && <p>Nothing is billed on either side.</p>}
      {totals.map((total) => (
        <DraftCurrency
          key={total.currency}
          total={total}
          accounts={accounts.filter(({ currency }) => currency === total.currency)}
          isAlone={totals.length === 1}
          label={`Changes in ${total.currency} by ${name}`}
        />
      ))}
      {more > 0 && (
        <p>{`${counted(more, "account")} with smaller differences would not fit this page. The totals are of all.`}</p>
      )}
      {leftOut.length > 0 && (
        <p class="notice">
          Left out, as the draft has no prices in their currency: <bdi>{leftOut.slice(0, 50).join(", ")}</bdi>
          {leftOut.length > 50 ? ` and ${numberText(leftOut.length - 50)} more` : ""}
        </p>
      )}
    </section>
  );
}

interface DraftCurrencyProps {
  readonly total: DraftTotal;
  readonly accounts: readonly DraftAccount[];
  readonly isAlone: boolean;
  readonly label: string;
}

function DraftCurrency({ total, accounts, isAlone, label }: DraftCurrencyProps): JSX.Element {
  const { currency, digits, before, after, more, same, less, quantiles } = total;
  const money = (value: string): string => moneyText(value, { digits });
  return (
    <>
      {!isAlone && <h3>{currency}</h3>}
      <dl class="cards">
        <div class="figure">
          <dt>Now</dt>
          <dd>{money(before)}</dd>
          <dd>{currency}</dd>
        </div>
        <div class="figure">
          <dt>On the draft</dt>
          <dd>{money(after)}</dd>
          <dd>{changeText(total, digits)}</dd>
        </div>
        <div class="figure">
          <dt>Accounts</dt>
          <dd>{numberText(more + same + less)}</dd>
          <dd>{`${numberText(more)} pay more, ${numberText(same)} the same, ${numberText(less)} less`}</dd>
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
          <thead>
            <tr>
              {quantiles.map(({ percent }) => (
                <th key={percent} scope="col" class="number">{`${numberText(percent)} %`}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr>
              {quantiles.map(({ percent, difference }) => (
                <td key={percent} class="number">
                  {moneyText(difference, { digits, signed: true })}
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      )}
      <h3>Largest changes</h3>
      <DataTable
        thing="account"
        label={label}
        rows={accounts}
        columns={columnsOf(digits)}
        keyOf={({ id }) => id}
        textOf={({ id, name }) => `${id} ${name}`}
        placeholder="Search by name or id"
        sortedBy="difference"
        rowsShown={10}
      />
    </>
  );
}

function columnsOf(digits: number): readonly Column<DraftAccount>[] {
  const amount = (name: "before" | "after", label: string): Column<DraftAccount> => ({
    name,
    label,
    isNumber: true,
    isWide: true,
    cell: (row) => moneyText(row[name], { digits }),
    compare: (a, b) => compareDecimals(a[name], b[name]),
  });
  return [
    {
      name: "name",
      label: "Account",
      cell: (account) => <Causes account={account} digits={digits} />,
      compare: (a, b) => compareNames(a.name, b.name),
    },
    amount("before", "Now"),
    amount("after", "Draft"),
    {
      name: "difference",
      label: "Difference",
      isNumber: true,
      cell: (row) => changeText(row, digits),
      compare: (a, b) => compareDecimals(magnitude(a.difference), magnitude(b.difference)),
    },
  ];
}

function changeText({ difference, percent }: Compared, digits: number): string {
  const text = moneyText(difference, { digits, signed: true });
  return percent === undefined ? text : `${text} (${percentText(percent)})`;
}

/** An account that opens why each of its lines changed. */
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
          {moneyText(before, { digits })} to {moneyText(after, { digits })}
        </span>
      </summary>
      <ul class="causes">
        {lines.map((line, index) => (
          <li key={index}>
            <bdi>{line.label}</bdi>: {moneyText(line.before, { digits })} to {moneyText(line.after, { digits })}
            {line.causes.length > 0 && (
              <span class="soft small">
                {" "}
                {line.causes
                  .map((cause) => `${cause.label} ${moneyText(cause.amount, { digits, signed: true })}`)
                  .join(", ")}
              </span>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
