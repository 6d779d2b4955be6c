/** `ratebook late`: external usage that arrived after its cycle closed. */
import type { Engine } from "../../engine/engine.ts";
import type { LateUsage } from "../../ledger/external-usage.ts";
import { type Arguments, type Command, requireNoArguments } from "../arguments.ts";
import { databaseOption, databaseVariable, requireDatabase, withEngine } from "../database-option.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { withOutput } from "../output/output-file.ts";
import { outputOptions, readDays } from "../reading/input-options.ts";
import { formatCsvRow } from "../table/invoice-table.ts";
import { externalUsageOptions, readExternalUsage } from "../usage/external-usage.ts";

const FORMATS = ["ndjson", "csv"] as const;
/** The number of accounts per request. */
const ACCOUNTS_MAX = 1000;
const CSV_HEADER =
  "accountId,invoiceId,startDate,endDate,meterId,date,billed,now,late,currency,billedAmount,amountNow,lateAmount,group\r\n";

export const lateCommand: Command = {
  usage: "--usage FILE|DIR|TABLE… --usage-schemas NAME,… --from DATE --until DATE [options]",
  options: {
    ...externalUsageOptions,
    from: { kind: "one", value: "DATE", help: "first day of the range of closed billing periods" },
    until: { kind: "one", value: "DATE", help: "first day after the range" },
    account: { kind: "many", value: "ID", help: "only this account, by its id; default all" },
    ...outputOptions(FORMATS, "late usage: ndjson, one line per closed billing period; csv, one per meter and day"),
    ...databaseOption,
  },
  variables: databaseVariable,
  run: runLate,
};

async function runLate(args: Arguments, io: Io): Promise<"done"> {
  requireNoArguments(args, "give the database with --database");
  const usage = await readExternalUsage(args, io);
  if (usage === undefined)
    throw new UsageError("missing --usage and --usage-schemas: give the same values as for serve");
  const range = readDays(requireValue(args, "from"), requireValue(args, "until"));
  const format = args.value("format") ?? FORMATS[0];
  await withEngine(requireDatabase(args, io), { usage }, (engine) =>
    withOutput(args, io, async ({ stdout }) => {
      if (format === "csv") await write(stdout, CSV_HEADER);
      for await (const accountIds of readAccountPages(engine, args.values("account"))) {
        for (const lateUsage of await engine.lateUsage({ accountIds, ...range }))
          await write(stdout, format === "csv" ? formatLateCsv(lateUsage) : `${JSON.stringify(lateUsage)}\n`);
      }
    }),
  );
  return "done";
}

function requireValue(args: Arguments, name: "from" | "until"): string {
  const text = args.value(name);
  if (text !== undefined) return text;
  throw new UsageError(`missing --${name}: give the range of closed billing periods as --from DATE --until DATE`);
}

/** The ids of accounts, page by page. */
async function* readAccountPages(engine: Engine, accountIds: readonly string[]): AsyncGenerator<readonly string[]> {
  for (let start = 0; start < accountIds.length; start += ACCOUNTS_MAX)
    yield accountIds.slice(start, start + ACCOUNTS_MAX);
  if (accountIds.length > 0) return;
  const limit = ACCOUNTS_MAX;
  for (let page = await engine.accounts.list({ page: { limit } }); ;) {
    if (page.items.length > 0) yield page.items.map(({ id }) => id);
    if (page.next === undefined) return;
    page = await engine.accounts.list({ page: { limit, after: page.next } });
  }
}

/** One row per cell, with the total of its cycle. */
function formatLateCsv(usage: LateUsage): string {
  const { accountId, invoiceId, startDate, endDate, currency, billedAmount, amountNow, lateAmount } = usage;
  const cycle = [accountId, invoiceId, startDate, endDate];
  const amounts = [currency, billedAmount, amountNow, lateAmount];
  return usage.cells
    .map(({ meterId, date, billed, now, late, group }) =>
      formatCsvRow([...cycle, meterId, date, billed, now, late, ...amounts, group && JSON.stringify(group)]),
    )
    .join("");
}
