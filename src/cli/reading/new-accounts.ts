/** `--accounts-from-events`: creates accounts on one plan for account ids in events that the book doesn't have. */
import { parseBook } from "../../book/book.ts";
import { type Account, isAccountId } from "../../book/resources/account.ts";
import type { Book } from "../../book/resources/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { naturalCycleAt } from "../../calendar/cycle.ts";
import { type Instant, tryParseInstant, parseDate, startOfUtcDay } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import { InputError } from "../../event-files/input-error.ts";
import { mergeEvents } from "../../event-files/merge-events.ts";
import { associateOn } from "../../ledger/account/account-plan.ts";
import { quoteText } from "../../problem-table.ts";
import type { BookFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import type { Io } from "../io.ts";
import { formatCount } from "../table/format-rows.ts";
import { readUsageLines } from "../usage/usage-files.ts";
import type { UsageInput } from "./input-options.ts";
import { createEventSink, createRowReading, openEventFiles } from "./open-event-files.ts";
import { printNotices } from "./print-problems.ts";

/** The time of each account's first usage, by the id or alias in the files. */
type FirstUses = ReadonlyMap<string, Instant>;

/**
 * Adds an account for each unknown id in the files to a book, and prints their number.
 *
 * @param draft the plan of the new accounts; default the only plan of the book
 * @throws {UsageError} for standard input, which can only be read once, and if there is no plan or more than one;
 * {InputError} if the accounts can't have it, and for a name that can't be an id
 */
export async function addAccountsOfUsage(
  { book, json }: BookFile,
  input: UsageInput,
  draft: PricePlan | undefined,
  io: Io,
): Promise<Book> {
  const bookWithModel = readBookWithModel(json, book, draft);
  const newUses = findNewUses(bookWithModel, await findFirstUses(input, book, io));
  await printNotices([`${formatCount(newUses.length, "account")} created from the events, for this run only`], io);
  return addNewAccounts(bookWithModel, newUses);
}

/** Finds the accounts in files. */
async function findFirstUses(
  { files, usagePaths, memory }: UsageInput,
  { eventSchemas }: Pick<Book, "eventSchemas">,
  io: Io,
): Promise<FirstUses> {
  if ([...usagePaths, ...files.map(({ path }) => path)].includes("-"))
    throw new UsageError("--accounts-from-events reads the events twice, so it needs files, not standard input");
  const firstUses = new Map<string, Instant>();
  const recordUse = (accountId: string, at: Instant | undefined): void => {
    if (at !== undefined && at < (firstUses.get(accountId) ?? Infinity)) firstUses.set(accountId, at);
  };
  const sink = createEventSink((event) => {
    if (typeof event !== "object" || event === null) return;
    const { accountId, timestamp } = event as { readonly accountId?: unknown; readonly timestamp?: unknown };
    if (typeof accountId !== "string" || accountId === "" || typeof timestamp !== "string") return;
    recordUse(accountId, tryParseInstant(timestamp));
  });
  const { cursors } = await openEventFiles(files, sink, io, createRowReading(memory, eventSchemas));
  await mergeEvents(cursors, { onDisorder: () => undefined });
  for (const path of usagePaths) {
    for await (const { row } of readUsageLines(path, io))
      if (row !== undefined) recordUse(row.accountId, parseDate(row.date));
  }
  return firstUses;
}

/** The id of the account that new ones are copies of. */
const MODEL_ID = "new-account-of-events";

/**
 * Adds a model account for new ones to the book, on its only plan, or on none if a draft is tried. The book is
 * validated again, because the plan must now be valid for use.
 */
function readBookWithModel(json: unknown, book: Book, draft: PricePlan | undefined): Book {
  const plan = draft ?? requireOnlyPlan(book);
  const model = {
    id: MODEL_ID,
    name: "New account",
    customerId: MODEL_ID,
    invoiceCurrency: chooseCurrency(plan, book),
    pricePlans: draft === undefined ? [{ pricePlanId: plan.id, effectiveFrom: "1970-01-01" }] : [],
  };
  const { customers, accounts } = json as { readonly customers?: unknown; readonly accounts?: unknown };
  try {
    return parseBook({
      ...(json as object),
      customers: [...toList(customers), { id: MODEL_ID, name: "New customer" }],
      accounts: [...toList(accounts), model],
    });
  } catch (error) {
    if (!hasCode(error, "ERR_BOOK_INVALID")) throw error;
    const [first] = error.details.problems;
    throw new InputError(`no account can use the price plan ${quoteText(plan.id)}: ${first?.message ?? error.message}`);
  }
}

/** The uses of accounts that a book doesn't have, in the order of their ids. */
function findNewUses({ accounts }: Book, firstUses: FirstUses): readonly (readonly [id: string, first: Instant])[] {
  const knownNames = new Set(accounts.flatMap(({ id, aliases }) => [id, ...aliases]));
  const newUses = [...firstUses].filter(([id]) => !knownNames.has(id)).sort(([a], [b]) => (a < b ? -1 : 1));
  requireAccountIds(newUses.map(([id]) => id));
  return newUses;
}

/** Adds accounts in place of the model, each from the natural cycle of its first event on. */
function addNewAccounts(bookWithModel: Book, newUses: ReturnType<typeof findNewUses>): Book {
  const model = bookWithModel.accounts.find(({ id }) => id === MODEL_ID);
  if (model === undefined) throw new TypeError("expected a book with a model account");
  const createdAccounts = newUses.map(([id, first]): Account => ({
    ...model,
    id,
    name: id,
    customerId: id,
    pricePlans: model.pricePlans.map((association) => ({
      ...association,
      effectiveFrom: firstCycleStart(bookWithModel, association, first),
    })),
  }));
  const customers = bookWithModel.customers.filter(({ id }) => id !== MODEL_ID);
  const customerIds = new Set(customers.map(({ id }) => id));
  return {
    ...bookWithModel,
    customers: [
      ...customers,
      ...newUses.flatMap(([id]) => (customerIds.has(id) ? [] : [{ id, name: id, status: "ACTIVE" as const }])),
    ],
    accounts: [...bookWithModel.accounts.filter((account) => account !== model), ...createdAccounts],
  };
}

function requireAccountIds(names: readonly string[]): void {
  const [name, ...others] = names.filter((each) => !isAccountId(each));
  if (name === undefined) return;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  throw new InputError(
    `${quoteText(name)}${more} cannot be an account: ids have 1 to 50 characters, without spaces and slashes; ` +
      `write the ids of such names into the map, as in "accountId": {"column": "…", "values": {${quoteText(name)}: "…"}}`,
  );
}

/** The start of the natural cycle that contains an instant. */
function firstCycleStart(book: Book, { pricePlanId, version }: Account["pricePlans"][number], at: Instant): Instant {
  const plan = book.pricePlans.find((each) => each.id === pricePlanId && each.version === version);
  if (plan === undefined) throw new TypeError("expected the plan of an association that was checked");
  return naturalCycleAt(associateOn(plan, startOfUtcDay(at)).cycleConfig, at).start;
}

function requireOnlyPlan(book: Book): PricePlan {
  const plans = book.pricePlans.filter(({ status }) => status !== "ARCHIVED");
  const [plan] = plans;
  if (plan !== undefined && plans.every(({ id }) => id === plan.id)) return plan;
  throw new UsageError(
    plan === undefined
      ? "--accounts-from-events needs a price plan, but the book has none: add one, or use preview --plan FILE"
      : "--accounts-from-events needs one price plan, but the book has several: archive the others, or use preview --plan FILE",
  );
}

/** The organization's currency if the plan supports it, otherwise the plan's first. */
function chooseCurrency({ pricePlanDetails }: PricePlan, { organization }: Book): string {
  const currencies = pricePlanDetails.supportedCurrencies ?? [];
  return currencies.includes(organization.baseCurrency)
    ? organization.baseCurrency
    : (currencies[0] ?? organization.baseCurrency);
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
