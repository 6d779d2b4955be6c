/** `ratebook backtest`: the same usage on the current plans and on drafts. */
import { basename } from "node:path";

import { createBacktest } from "../../analysis/backtest/backtest.ts";
import {
  type Backtest,
  type MigrationInput,
  findBreaches,
  parseGate,
} from "../../analysis/backtest/compare-invoices.ts";
import { MIGRATION_MODES } from "../../book/resources/requests.ts";
import { parseDate } from "../../calendar/instant.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { listNotBilled } from "../../pages/not-billed.ts";
import { toPrintable } from "../../pages/printable.ts";
import { type Arguments, checkOption, type Command, requireBookPath } from "../arguments.ts";
import { readDraftFiles } from "../documents/draft-file.ts";
import { readBookFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { renderReportPage, withOutput } from "../output/output-file.ts";
import { countEventsByStatus, listUnpricedOnDrafts, printNotBilled } from "../output/preview-output.ts";
import { eventOptions, idOptions, unmeteredOptions, usageOptions } from "../reading/event-options.ts";
import {
  createIdMemory,
  outputOptions,
  rangeOptions,
  readAccountIds,
  readRange,
  readUsageInput,
} from "../reading/input-options.ts";
import { readUsage } from "../reading/read-event-files.ts";
import { formatBacktestCsv, formatBacktestTable } from "../table/backtest-table.ts";
import { createTableStyle } from "../table/table-style.ts";

export const backtestCommand: Command = {
  usage: "BOOK --plan DRAFT… --events FILE…|--usage FILE… [options]",
  options: {
    plan: { kind: "list", value: "FILE…", help: "a draft price plan for all accounts" },
    ...eventOptions,
    ...usageOptions,
    account: { kind: "many", value: "ID", help: "only this account, by id or alias; default all" },
    ...rangeOptions,
    migrate: {
      kind: "one",
      value: "MODE",
      choices: MIGRATION_MODES,
      help: "move the accounts to the draft on the date of --on, instead of pricing it from the start",
    },
    on: { kind: "one", value: "DATE", help: "the date on which --migrate moves the accounts" },
    causes: { kind: "flag", help: "show why each line changed, for --format json; html always shows it" },
    all: { kind: "flag", help: "show unchanged accounts and lines too" },
    "fail-if": {
      kind: "many",
      value: "RULE",
      help: 'exit with 1 if this is true of a draft, such as "account.increase > 20%" or "total.decrease > 0"',
    },
    ...idOptions,
    ...unmeteredOptions,
    ...outputOptions(["table", "json", "csv", "html"], "differences"),
  },
  run: runBacktest,
};

async function runBacktest(args: Arguments, io: Io): Promise<"done" | "problems"> {
  const path = requireBookPath(args);
  const gates = args.values("fail-if").map((text) => checkOption("fail-if", () => parseGate(text)));
  const input = readUsageInput(args, io);
  const range = readRange(args);
  const format = args.value("format") ?? "table";
  if (args.flag("causes") && format !== "json" && format !== "html")
    throw new UsageError(`--causes does not support --format ${format}; use json or html`);
  const migration = readMigration(args);
  if (!input.hasUsage) throw new UsageError("missing --events or --usage: give the usage to price");
  const planPaths = args.values("plan");
  if (planPaths.length === 0) throw new UsageError("missing --plan: give a draft to compare with");
  const { book } = await readBookFile(path, io);
  const accounts = readAccountIds(args);
  const plans = await readDraftFiles(planPaths, book, accounts, io);
  const run = createBacktest(book, plans, {
    ...range,
    accounts,
    causes: format === "html" || args.flag("causes"),
    migration,
    ids: createIdMemory(input, io),
  });
  const { list } = await readUsage(run, input, { book, io });
  const result = run.finish();
  const events = countEventsByStatus(result.events, list);
  const draftNames = planPaths.map((each) => basename(each));
  const notBilled = [
    ...listNotBilled({ book, read: result.events.read, unmetered: result.unmetered }),
    ...listUnpricedOnDrafts(result.plans, draftNames),
  ];
  await withOutput(args, io, async (to) => {
    const filteredResult = args.flag("all") ? result : filterChanges(result);
    if (format === "html")
      await write(to.stdout, await renderReportPage({ book, backtest: result, draftNames, events, list, notBilled }));
    else if (format === "json") await write(to.stdout, `${stringifyJson(filteredResult, 2)}\n`);
    else
      await write(
        to.stdout,
        format === "csv"
          ? formatBacktestCsv(filteredResult)
          : formatBacktestTable(filteredResult, planPaths, createTableStyle(to)),
      );
  });
  const breaches = gates.flatMap((gate) => findBreaches(result, gate));
  for (const breach of breaches) await write(io.stderr, `ratebook: --fail-if: ${toPrintable(breach)}\n`);
  const isIncomplete = await printNotBilled(notBilled, args, io);
  return list.count > 0 || breaches.length > 0 || isIncomplete ? "problems" : "done";
}

/** @throws {UsageError} if only one of the two options is given, or the date is invalid */
function readMigration(args: Arguments): MigrationInput | undefined {
  const [modeText, on] = [args.value("migrate"), args.value("on")];
  if (modeText === undefined && on === undefined) return undefined;
  const mode = MIGRATION_MODES.find((each) => each === modeText);
  if (mode === undefined || on === undefined)
    throw new UsageError("--migrate MODE and --on DATE must be given together");
  return { mode, on: checkOption("on", () => parseDate(on)) };
}

/** Leaves out accounts and lines without changes. */
function filterChanges({ plans, ...others }: Backtest): Backtest {
  const isChanged = ({ difference }: { readonly difference: Decimal }): boolean => !difference.isZero();
  return {
    ...others,
    plans: plans.map((plan) => ({
      ...plan,
      accounts: plan.accounts
        .filter((account) => isChanged(account) || account.lines.some(isChanged))
        .map((account) => ({ ...account, lines: account.lines.filter(isChanged) })),
    })),
  };
}
