/**
 * `ratebook backtest`: the same usage on the current plans and on drafts.
 *
 * @module
 */
import { basename } from "node:path";

import type { Book } from "../book/model/book.ts";
import type { PricePlan } from "../book/model/price-plan.ts";
import { MIGRATION_MODES } from "../book/requests/requests.ts";
import { parseDate } from "../calendar/instant.ts";
import { hasCode } from "../errors.ts";
import type { Decimal } from "../numbers/decimal.ts";
import { stringifyJson } from "../numbers/json.ts";
import { printable } from "../pages/printable.ts";
import { type Backtest, createBacktest } from "../proof/backtest/backtest.ts";
import { breachesOf, type GateRule, parseGate } from "../proof/backtest/gate.ts";
import type { MigrationInput } from "../proof/backtest/migration.ts";
import type { Arguments } from "./arguments.ts";
import { bookPath, type Command } from "./command.ts";
import { readBookFile, readDraftFile } from "./documents.ts";
import { pairWithMaps } from "./event-files.ts";
import { createProblemList, type ProblemList } from "./event-problems.ts";
import { eventInputOf, eventOptions, idMemory, idOptions, outputOptions, usageOptions } from "./input-options.ts";
import { type Io, write } from "./io.ts";
import { withOutput } from "./output.ts";
import { countedEvents, tellProblems } from "./preview-output.ts";
import { UsageError } from "./problems.ts";
import { dateOption, rangeOf, rangeOptions } from "./range-options.ts";
import { takeEventFiles } from "./reading-events.ts";
import { reportPage } from "./report-page.ts";
import { backtestCsv } from "./table/backtest-csv.ts";
import { backtestTable } from "./table/backtest-table.ts";
import { styleOf } from "./table/style.ts";
import { takeUsageFiles, usagePathsOf } from "./usage/usage-files.ts";

/** Prices usage on drafts. */
export const backtestCommand: Command = {
  usage: "BOOK --plan DRAFT… --events FILE…|--usage FILE… [options]",
  summary: "Prices the same usage on the current plans and on each draft, and says who would pay what.",
  options: {
    plan: { kind: "list", value: "FILE…", help: "a draft price plan for all accounts" },
    ...eventOptions,
    ...usageOptions,
    account: { kind: "many", value: "ID", help: "an account to compare, by id or alias; default all" },
    ...rangeOptions,
    migrate: {
      kind: "one",
      value: "MODE",
      choices: MIGRATION_MODES,
      help: "move the accounts to the draft on the day of --on, in place of trying it from the start",
    },
    on: { kind: "one", value: "DATE", help: "the day of --migrate" },
    causes: { kind: "flag", help: "say why each line changed (in JSON)" },
    all: { kind: "flag", help: "also show accounts and lines that do not change" },
    "fail-if": {
      kind: "many",
      value: "RULE",
      help: 'exit with 1 where a draft breaks it: "account.increase > 20%", "total.decrease > 0"',
    },
    ...idOptions,
    ...outputOptions(["table", "json", "csv", "html"], "differences"),
  },
  run: runBacktest,
};

async function runBacktest(given: Arguments, io: Io): Promise<"done" | "problems"> {
  const path = bookPath(given);
  const gates = given.many("fail-if").map(gateOf);
  const input = eventInputOf(given);
  const { events, maps, reader } = input;
  const files = pairWithMaps(events, maps, reader);
  const usagePaths = usagePathsOf(given, files);
  const range = rangeOf(given);
  const format = given.one("format") ?? "table";
  const migration = migrationOf(given);
  if (files.length + usagePaths.length === 0) throw new UsageError("expected --events or --usage: the usage to price");
  const planPaths = given.many("plan");
  if (planPaths.length === 0) throw new UsageError("expected --plan: a draft to compare with");
  const file = await readBookFile(path, io);
  if (file === undefined) return "problems";
  const { book } = file;
  const plans: PricePlan[] = [];
  for (const each of planPaths) {
    const plan = await readDraftFile(each, book, given.many("account"), io);
    if (plan === undefined) return "problems";
    plans.push(plan);
  }
  const accounts = given.many("account");
  const run = createBacktest(book, plans, {
    ...range,
    accounts: accounts.length === 0 ? undefined : accounts,
    causes: format === "html" || given.flag("causes"),
    migration,
    ids: idMemory(given, files.length > 0, io),
  });
  await takeUsageFiles(usagePaths, (row) => run.addUsage(row), io);
  const list = createProblemList();
  await takeEventFiles(run, files, { list, book, input, io });
  await tellProblems(list, book, io);
  const result = run.finish();
  await withOutput(given, io, async (to) => {
    const shown = given.flag("all") ? result : changedOnly(result);
    if (format === "html") await write(to.stdout, await pageOf(book, planPaths, result, list));
    else if (format === "json") await write(to.stdout, `${stringifyJson(shown, 2)}\n`);
    else await write(to.stdout, format === "csv" ? backtestCsv(shown) : backtestTable(shown, planPaths, styleOf(to)));
  });
  const breaches = gates.flatMap((gate) => breachesOf(result, gate));
  for (const breach of breaches) await write(io.stderr, `ratebook: --fail-if: ${printable(breach)}\n`);
  return list.count > 0 || breaches.length > 0 ? "problems" : "done";
}

/** @throws {UsageError} when one of the two options is missing, or the day is none */
function migrationOf(given: Arguments): MigrationInput | undefined {
  const [chosen, on] = [given.one("migrate"), given.one("on")];
  if (chosen === undefined && on === undefined) return undefined;
  const mode = MIGRATION_MODES.find((each) => each === chosen);
  if (mode === undefined || on === undefined)
    throw new UsageError("--migrate MODE and --on DATE go together: one is missing");
  return { mode, on: dateOption("on", on, parseDate) };
}

function gateOf(text: string): GateRule {
  try {
    return parseGate(text);
  } catch (error) {
    if (hasCode(error, "ERR_OPTION_INVALID")) throw new UsageError(`--fail-if: ${error.message}`);
    throw error;
  }
}

/** A report of the differences alone. */
async function pageOf(book: Book, paths: readonly string[], backtest: Backtest, list: ProblemList): Promise<string> {
  const { problems, count: problemCount } = list;
  const events = countedEvents(backtest.events, list);
  const draftNames = paths.map((path) => basename(path));
  return reportPage({
    book,
    backtest,
    draftNames,
    events,
    problems,
    problemCount,
    invoices: [],
    notices: [],
    cellsOf: () => [],
  });
}

/** Without accounts and lines that stay as they are. */
function changedOnly({ events, plans }: Backtest): Backtest {
  const isChanged = ({ difference }: { readonly difference: Decimal }): boolean => !difference.isZero();
  return {
    events,
    plans: plans.map((plan) => ({
      ...plan,
      accounts: plan.accounts
        .filter((account) => isChanged(account) || account.lines.some(isChanged))
        .map((account) => ({ ...account, lines: account.lines.filter(isChanged) })),
    })),
  };
}
