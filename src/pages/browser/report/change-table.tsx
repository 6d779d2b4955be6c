/** Tables of amounts now and with a draft, their differences and causes. */
import { type ComponentChildren, Fragment, type JSX } from "preact";

import type { AmountChange, DraftLine, DraftTotal } from "../../report/report-data.ts";
import { TableHead } from "../common/data-table.tsx";
import { formatMoney, formatPercent } from "../common/format.ts";

/** The currency of amounts, with its minor-unit digits. */
export type Money = Pick<DraftTotal, "currency" | "digits">;

/** A difference with its sign. */
export function formatDifference(amount: string, { currency, digits }: Money): string {
  return formatMoney(amount, { currency, digits, hasPlusSign: true });
}

/** The class that colors an amount that goes up or down. */
export function findDirection(difference: string): string {
  return difference === "0" ? "soft" : difference.startsWith("-") ? "less" : "more";
}

interface ChangeProps {
  readonly change: AmountChange;
  readonly money: Money;
}

/** A row of a table of changes. */
export interface ChangeRow extends ChangeProps {
  readonly label: ComponentChildren;
  readonly note?: ComponentChildren;
}

/** Lines with their causes, and their total. */
export function LineTable({
  lines,
  change,
  money,
}: ChangeProps & { readonly lines: readonly DraftLine[] }): JSX.Element {
  const rows = lines.map((line): ChangeRow => {
    return { label: <bdi>{line.label}</bdi>, note: <Causes line={line} money={money} />, change: line, money };
  });
  return <ChangeTable label="Item" rows={[...rows, { label: <strong>Total</strong>, change, money }]} />;
}

/** Amounts on both sides, their differences and percentages. */
export function ChangeTable({
  label,
  rows,
}: {
  readonly label: string;
  readonly rows: readonly ChangeRow[];
}): JSX.Element {
  return (
    <div class="scroll">
      <table class="items changes">
        <TableHead
          columns={[
            { label },
            { label: "Now", class: "number wide-only" },
            { label: "Draft", class: "number wide-only" },
            { label: "Difference", class: "number" },
            { label: "Percent", class: "number wide-only" },
          ]}
        />
        <tbody>
          {rows.map(({ label: name, note, change, money }, index) => (
            <tr key={index}>
              <th scope="row" class="indent-0">
                {name}
                <span class="soft small cause">{note}</span>
                <NarrowAmounts change={change} money={money} />
              </th>
              <td class="number wide-only">{formatMoney(change.before, money)}</td>
              <td class="number wide-only">{formatMoney(change.after, money)}</td>
              <td class="number">
                <Difference change={change} money={money} />
              </td>
              <td class="number wide-only soft">{change.percent !== undefined && formatPercent(change.percent)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Both amounts below a name, where narrow screens have no columns for them. */
export function NarrowAmounts({ change, money }: ChangeProps): JSX.Element {
  return (
    <span class="narrow-only soft small">{`${formatMoney(change.before, money)} to ${formatMoney(change.after, money)}`}</span>
  );
}

/** A difference, on narrow screens with its percentage. */
export function Difference({ change, money }: ChangeProps): JSX.Element {
  const { difference, percent } = change;
  return (
    <>
      <span class={findDirection(difference)}>{formatDifference(difference, money)}</span>
      {percent !== undefined && <span class="narrow-only soft small">{formatPercent(percent)}</span>}
    </>
  );
}

/** Why a line changes: the only cause besides rounding by its name, or each with its amount. */
function Causes({ line: { causes }, money }: { readonly line: DraftLine; readonly money: Money }): JSX.Element {
  const [main, ...others] = causes.filter(({ label }) => label !== "rounding");
  const isSingle = causes.length === 1 || (main !== undefined && others.length === 0);
  return (
    <>
      {isSingle ? (
        <bdi>{(main ?? causes[0])?.label}</bdi>
      ) : (
        causes.map(({ label, amount }, index) => (
          <Fragment key={index}>
            {index > 0 && ", "}
            <bdi>{label}</bdi> <span class="amount">{formatDifference(amount, money)}</span>
          </Fragment>
        ))
      )}
    </>
  );
}
