/** A backtest as CSV: for each draft and account, a row for the total and one for each line. */
import type { Backtest } from "../../analysis/backtest/compare-invoices.ts";
import { type Decimal, formatDecimal } from "../../numbers/decimal.ts";
import { escapeCsvCell } from "./invoice-csv.ts";

const COLUMNS = [
  "planId",
  "version",
  "accountId",
  "currency",
  "type",
  "id",
  "description",
  "before",
  "after",
  "difference",
] as const;

/** The type of total rows. */
const TOTAL = "TOTAL";

export function formatBacktestCsv({ plans }: Backtest): string {
  const rows = plans.flatMap(({ planId, version, accounts }) =>
    accounts.flatMap(({ accountId, currency, lines, ...total }) =>
      [{ type: TOTAL, id: undefined, description: undefined, ...total }, ...lines].map(
        ({ type, id, description, before, after, difference }): readonly (string | Decimal | undefined)[] => [
          planId,
          String(version),
          accountId,
          currency,
          type,
          id,
          description,
          before,
          after,
          difference,
        ],
      ),
    ),
  );
  const lines = rows.map((row) =>
    row.map((value) => (typeof value === "string" ? escapeCsvCell(value) : formatAmountCell(value))),
  );
  return [COLUMNS, ...lines].map((row) => `${row.join(",")}\r\n`).join("");
}

function formatAmountCell(amount: Decimal | undefined): string {
  return amount === undefined ? "" : formatDecimal(amount);
}
