/**
 * `--accounts-from-events`: account ids of events that the book does not have become accounts on one plan.
 *
 * @module
 */
import { parseBook } from "../book/book.ts";
import type { Account } from "../book/model/account.ts";
import type { Book } from "../book/model/book.ts";
import type { PricePlan } from "../book/model/price-plan.ts";
import { naturalCycleAt } from "../calendar/cycle.ts";
import { type Instant, tryParseInstant, parseDate, dayStart } from "../calendar/instant.ts";
import { hasCode } from "../errors.ts";
import { associateOn } from "../ledger/account/associated-plans.ts";
import { takeAll } from "../records/event-cursor.ts";
import { InputError, quoted } from "../records/problems.ts";
import { type EventFile, openEventFiles } from "./event-files.ts";
import type { Io } from "./io.ts";
import { UsageError } from "./problems.ts";
import { usageRows } from "./usage/usage-rows.ts";

/** When each account of some files is first used, by its id or alias as the files write it. */
export type FirstUse = ReadonlyMap<string, Instant>;

/** Files of events and of usage. */
export interface UseFiles {
  readonly files: readonly EventFile[];
  readonly usagePaths: readonly string[];
}

/** Looks through files for their accounts. @throws {UsageError} for standard input, which is read once only */
export async function firstUseOf({ files, usagePaths }: UseFiles, io: Io): Promise<FirstUse> {
  if ([...usagePaths, ...files.map(({ path }) => path)].includes("-"))
    throw new UsageError("--accounts-from-events reads the events twice: expected files, not standard input");
  const firsts = new Map<string, Instant>();
  const note = (accountId: string, at: Instant | undefined): void => {
    if (at !== undefined && at < (firsts.get(accountId) ?? Infinity)) firsts.set(accountId, at);
  };
  const take = (event: unknown): boolean => {
    if (typeof event !== "object" || event === null) return true;
    const { accountId, timestamp } = event as { readonly accountId?: unknown; readonly timestamp?: unknown };
    if (typeof accountId !== "string" || accountId === "" || typeof timestamp !== "string") return true;
    note(accountId, tryParseInstant(timestamp));
    return true;
  };
  const sink = {
    event: (_file: string, _line: number, event: unknown) => take(event),
    badLine: () => true,
    // Without slots every reader gives whole events.
    slotsOf: () => undefined,
    filled: () => true,
    counted: () => false,
  };
  const { cursors } = await openEventFiles(files, sink, io);
  await takeAll(cursors, { onDisorder: () => undefined });
  for (const path of usagePaths) {
    for await (const { row } of usageRows(path, io)) if (row !== undefined) note(row.accountId, parseDate(row.date));
  }
  return firsts;
}

/** The id of the account that new ones are made like. */
const MODEL = "new-account-of-events";

/**
 * The book with one more account, on its only plan, or on none where a draft is tried: what new accounts are made like.
 * It is read anew, so that the plan is checked as one that is in use.
 *
 * @param json the book as it was read from
 * @throws {UsageError} when it is not clear which plan new accounts are on; {InputError} when they cannot be on it
 */
export function readModelled(json: unknown, book: Book, draft: PricePlan | undefined): Book {
  const plan = draft ?? onlyPlan(book);
  const model = {
    id: MODEL,
    name: "New account",
    customerId: MODEL,
    invoiceCurrency: currencyOf(plan, book),
    pricePlans: draft === undefined ? [{ pricePlanId: plan.id, effectiveFrom: "1970-01-01" }] : [],
  };
  const { customers, accounts } = json as { readonly customers?: unknown; readonly accounts?: unknown };
  try {
    return parseBook({
      ...(json as object),
      customers: [...listOf(customers), { id: MODEL, name: "New customer" }],
      accounts: [...listOf(accounts), model],
    });
  } catch (error) {
    if (!hasCode(error, "ERR_BOOK_INVALID")) throw error;
    const [first] = error.details.problems;
    throw new InputError(`no account can be on the price plan ${quoted(plan.id)}: ${first?.message ?? error.message}`);
  }
}

/**
 * The book with an account for each id that it does not know, from the natural cycle of its first event on.
 *
 * @param modelled what {@link readModelled} read
 */
export function withNewAccounts(modelled: Book, firsts: FirstUse): { readonly book: Book; readonly added: number } {
  const model = modelled.accounts.find(({ id }) => id === MODEL);
  const known = new Set(modelled.accounts.flatMap(({ id, aliases }) => [id, ...aliases]));
  const added = [...firsts].filter(([id]) => !known.has(id)).sort(([a], [b]) => (a < b ? -1 : 1));
  const accounts = added.map(([id, first]): Account => {
    if (model === undefined) throw new TypeError("expected a book with a model account");
    return {
      ...model,
      id,
      name: id,
      customerId: id,
      pricePlans: model.pricePlans.map((association) => ({
        ...association,
        effectiveFrom: startOf(modelled, association, first),
      })),
    };
  });
  const customers = modelled.customers.filter(({ id }) => id !== MODEL);
  const taken = new Set(customers.map(({ id }) => id));
  return {
    added: added.length,
    book: {
      ...modelled,
      customers: [
        ...customers,
        ...added.flatMap(([id]) => (taken.has(id) ? [] : [{ id, name: id, status: "ACTIVE" as const }])),
      ],
      accounts: [...modelled.accounts.filter((account) => account !== model), ...accounts],
    },
  };
}

/** The start of the natural cycle that holds an instant. */
function startOf(book: Book, { pricePlanId, version }: Account["pricePlans"][number], at: Instant): Instant {
  const plan = book.pricePlans.find((each) => each.id === pricePlanId && each.version === version);
  if (plan === undefined) throw new TypeError("expected the plan of an association that was checked");
  return naturalCycleAt(associateOn(plan, dayStart(at)).cycleConfig, at).start;
}

function onlyPlan(book: Book): PricePlan {
  const plans = book.pricePlans.filter(({ status }) => status !== "ARCHIVED");
  const [plan] = plans;
  if (plan !== undefined && plans.every(({ id }) => id === plan.id)) return plan;
  throw new UsageError(
    plan === undefined
      ? "--accounts-from-events needs a price plan: the book has none, and no --plan is given"
      : "--accounts-from-events needs one price plan, and the book has several: say with --plan FILE which to try",
  );
}

/** The organization's currency where the plan has it, else the plan's first. */
function currencyOf({ pricePlanDetails }: PricePlan, { organization }: Book): string {
  const supported = pricePlanDetails.supportedCurrencies ?? [];
  return supported.includes(organization.baseCurrency)
    ? organization.baseCurrency
    : (supported[0] ?? organization.baseCurrency);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
