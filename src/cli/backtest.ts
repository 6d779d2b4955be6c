import type { PricePlan } from "../book/resources/price-plan.ts";
/**
 * `ratebook backtest`: the same usage on the current plans and on drafts.
 *
 * @module
 */
import { hasCode } from "../errors.ts";
import { grouped } from "../invoicing/figure-text.ts";
import { minorUnitDigits } from "../numbers/currency.ts";
import type { Decimal } from "../numbers/decimal.ts";
import { stringifyJson } from "../numbers/json.ts";
import { type Backtest, type BacktestPlan, type BacktestRun, createBacktest } from "../proof/backtest/backtest.ts";
import { breachesOf, type GateRule, parseGate } from "../proof/backtest/gate.ts";
import type { Arguments } from "./arguments.ts";
import { bookPath, type Command } from "./command.ts";
import { readBookFile, readPlanFile } from "./documents.ts";
import { openEventFiles, pairWithMaps } from "./event-files.ts";
import { BAD_LINE, createProblemList, isProblem, type ProblemList } from "./event-problems.ts";
import { takeAll } from "./events/cursor.ts";
import { eventInputOf, eventOptions, outputOptions } from "./input-options.ts";
import { type Io, write } from "./io.ts";
import { withOutput } from "./output.ts";
import { tellProblems } from "./preview-output.ts";
import { UsageError } from "./problems.ts";
import { printable } from "./table/printable.ts";

/** Prices usage on drafts. */
export const backtestCommand: Command = {
  usage: "BOOK --plan DRAFT… --events FILE… [options]",
  summary: "Prices the same usage on the current plans and on each draft, and says who would pay what.",
  options: {
    plan: { kind: "list", value: "FILE…", help: "a draft price plan for all accounts" },
    ...eventOptions,
    account: { kind: "many", value: "ID", help: "an account to compare, by id or alias; default all" },
    from: { kind: "one", value: "DATE", help: "compare the cycles that touch the range from this day" },
    until: { kind: "one", value: "DATE", help: "to this day, exclusive; default: from the first event to the last" },
    causes: { kind: "flag", help: "say why each line changed" },
    all: { kind: "flag", help: "show accounts and lines that do not change, too" },
    "fail-if": {
      kind: "many",
      value: "RULE",
      help: 'exit with 1 where a draft breaks it: "account.increase > 20%", "total.decrease > 0"',
    },
    ...outputOptions(["table", "json", "csv"], "differences"),
  },
  run: runBacktest,
};

async function runBacktest(given: Arguments, io: Io): Promise<"done" | "problems"> {
  const path = bookPath(given);
  const gates = given.many("fail-if").map(gateOf);
  const { events, maps, reader } = eventInputOf(given);
  const files = pairWithMaps(events, maps, reader);
  if (files.length === 0) throw new UsageError("expected --events: the usage that is to be priced");
  const planPaths = given.many("plan");
  if (planPaths.length === 0) throw new UsageError("expected --plan: a draft to compare with");
  const file = await readBookFile(path, io);
  if (file === undefined) return "problems";
  const plans: PricePlan[] = [];
  for (const each of planPaths) {
    const plan = await readPlanFile(each, file.book, io);
    if (plan === undefined) return "problems";
    plans.push(plan);
  }
  const accounts = given.many("account");
  const run = createBacktest(file.book, plans, {
    from: given.one("from"),
    until: given.one("until"),
    accounts: accounts.length === 0 ? undefined : accounts,
    causes: given.flag("causes"),
  });
  const list = createProblemList();
  await readEvents(run, files, list, io);
  await tellProblems(list, file.book, io);
  const result = run.finish();
  await withOutput(given, io, async ({ stdout }) => {
    const shown = given.flag("all") ? result : changedOnly(result);
    const format = given.one("format") ?? "table";
    if (format === "json") await write(stdout, `${stringifyJson(shown, 2)}\n`);
    else await write(stdout, format === "csv" ? csvOf(shown) : textOf(shown));
  });
  const breaches = gates.flatMap((gate) => breachesOf(result, gate));
  for (const breach of breaches) await write(io.stderr, `ratebook: --fail-if: ${printable(breach)}\n`);
  return list.count > 0 || breaches.length > 0 ? "problems" : "done";
}

function gateOf(text: string): GateRule {
  try {
    return parseGate(text);
  } catch (error) {
    if (hasCode(error, "ERR_OPTION_INVALID")) throw new UsageError(`--fail-if: ${error.message}`);
    throw error;
  }
}

async function readEvents(
  run: BacktestRun,
  files: ReturnType<typeof pairWithMaps>,
  list: ProblemList,
  io: Io,
): Promise<void> {
  const { cursors } = await openEventFiles(
    files,
    {
      event: (file, line, event) => {
        const { status, description } = run.add(event);
        if (isProblem(status)) {
          list.add(
            { file, line, status, message: description },
            (event as { readonly accountId?: unknown } | null)?.accountId,
          );
        }
        return true;
      },
      badLine: (file, line, reason) => {
        list.add({ file, line, status: BAD_LINE, message: reason });
        return true;
      },
      // Each draft needs the event as it was sent: none is laid out for one of them alone.
      slotsOf: () => undefined,
      filled: () => true,
    },
    io,
  );
  await takeAll(cursors, { onBlock: () => undefined, onDisorder: (disorder) => list.addDisorder(disorder) });
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

function textOf({ plans }: Backtest): string {
  return [...plans.flatMap(planLines), ""].map(printable).join("\n");
}

function planLines({ planId, version, totals, accounts, leftOut }: BacktestPlan): readonly string[] {
  return [
    `${planId} version ${version}`,
    ...totals.flatMap(({ currency, before, after, difference, distribution }) => {
      const { more, same, less, quantiles } = distribution;
      return [
        `  total: ${change({ currency, before, after, difference })}`,
        `  accounts: ${more} pay more, ${same} the same, ${less} less`,
        `  difference of an account: ${quantiles.map(({ percent, difference: at }) => `${percent}% ${money(at, currency)}`).join(", ")}`,
      ];
    }),
    ...accounts.flatMap((account) => [
      `  ${account.accountId}: ${change(account)}`,
      ...account.lines.map(
        (line) => `    ${line.description ?? line.id ?? line.type}: ${change({ ...line, currency: account.currency })}`,
      ),
    ]),
    ...(leftOut.length === 0
      ? []
      : [`  left out, as the draft has no prices in their currency: ${leftOut.join(", ")}`]),
  ];
}

interface Changed {
  readonly currency: string;
  readonly before: Decimal;
  readonly after: Decimal;
  readonly difference: Decimal;
}

function change({ currency, before, after, difference }: Changed): string {
  const sign = difference.isNegative() ? "" : "+";
  return `${money(before, currency)} → ${money(after, currency)} ${currency} (${sign}${money(difference, currency)})`;
}

function money(amount: Decimal, currency: string): string {
  return grouped(amount.toFixed(minorUnitDigits(currency)));
}

/** A line for each account and draft. */
function csvOf({ plans }: Backtest): string {
  const rows = plans.flatMap(({ planId, version, accounts }) =>
    accounts.map(({ accountId, currency, before, after, difference }) =>
      [planId, String(version), accountId, currency, before.toFixed(), after.toFixed(), difference.toFixed()].map(cell),
    ),
  );
  return [["plan", "version", "account", "currency", "before", "after", "difference"], ...rows, [""]]
    .map((row) => row.join(","))
    .join("\n");
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
