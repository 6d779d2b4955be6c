/** The results of the playground: problems with their lines, or invoices, curves and cycles, and the command that prices the same. */
import { parseBook } from "../../book/book.ts";
import { parseJsonDocument } from "../../book/reading/json-document.ts";
import type { Book } from "../../book/resources/book.ts";
import { mayBeProrated } from "../../book/resources/event-schema.ts";
import { DAY_MS, toInstant } from "../../calendar/instant.ts";
import { type Problem, RatebookError } from "../../errors.ts";
import { preview, type Preview } from "../../ledger/preview/preview.ts";
import type { UsageRowInput } from "../../metering/usage-rows.ts";
import { add, type Decimal, decimalOfInteger, maximum, multiply, parseDecimal, ZERO } from "../../numbers/decimal.ts";
import { parseJson, stringifyJson } from "../../numbers/json.ts";
import { describeNotBilled, listNotBilled } from "../not-billed.ts";
import type { PlayState } from "../play-state.ts";
import { toPrintable } from "../printable.ts";
import { type CardCosts, computeCurves, curveKey } from "./cost-curve.ts";
import { itemKey, listCycles, type PlayCycles, type PlayPeriod, toPlayPeriods } from "./play-periods.ts";
import { type Days, readShape, spreadTotal, takesEventsOnly, toUsageRows } from "./typed-usage.ts";

/** A problem and its line in the book's text. */
export interface PlayProblem {
  readonly message: string;
  /** Absent if it isn't in the book. */
  readonly problem?: Problem;
  /** From 1; absent if it isn't in the book. */
  readonly line?: number;
  readonly column?: number;
}

export interface PlayBill {
  readonly problems: readonly PlayProblem[];
  readonly periods: readonly PlayPeriod[];
  /** The costs of items by quantity, by plan and {@link itemKey}. */
  readonly curves: ReadonlyMap<string, CardCosts>;
  readonly cycles?: PlayCycles | undefined;
  /** The checked book; absent if it has problems. */
  readonly book?: Book;
}

const EMPTY_BILL: Omit<PlayBill, "problems"> = { periods: [], curves: new Map() };

/** The maximum number of years to price: a page can't show more invoices. */
const YEARS_MAX = 10;
/** The maximum number of event problems shown. */
const PROBLEMS_MAX = 20;

/** Prices the state with the same functions as the command line. */
export function computeBill(state: PlayState): PlayBill {
  const bookResult = parseBookText(state.book);
  if ("problems" in bookResult) return { ...EMPTY_BILL, problems: bookResult.problems };
  const { book } = bookResult;
  const partialBill = { ...EMPTY_BILL, book, curves: computeCurves(book, sumQuantities(book, state)) };
  try {
    const problem = describeRangeProblem(state);
    if (problem !== undefined) return { ...partialBill, problems: [{ message: problem }] };
    const { invoices, problems, events, unmetered } = priceState(book, state);
    return {
      ...partialBill,
      periods: toPlayPeriods(invoices, book),
      problems: [
        ...problems
          .slice(0, PROBLEMS_MAX)
          .map(({ event, message }) => ({ message: toPrintable(`event ${event}: ${message}`) })),
        ...listNotBilled({ book, read: events.read, unmetered }).map((each) => ({ message: describeNotBilled(each) })),
      ],
      cycles: listCycles(book, state),
    };
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return { ...partialBill, problems: [{ message: toPrintable(error.message) }] };
  }
}

/** Why the range of a state can't be priced; undefined if it can. @throws {RatebookError} for an invalid date */
function describeRangeProblem({ from, until }: PlayState): string | undefined {
  if (toInstant(until) - toInstant(from) <= YEARS_MAX * 366 * DAY_MS) return undefined;
  return `cycles from ${from} until ${until}: expected ${YEARS_MAX} years at most`;
}

function priceState(book: Book, state: PlayState): Preview {
  const { events, from, until } = state;
  const lines = events.split("\n").filter((line) => line.trim() !== "");
  return preview(
    book,
    { usage: listUsageRows(book, state), events: lines.map((line) => parseJson(line)) as [] },
    { from, until, explain: true },
  );
}

/** The typed usage as rows. @throws {RatebookError} for an invalid quantity or date */
export function listUsageRows(book: Book, { usage }: PlayState): readonly UsageRowInput[] {
  const accountId = book.accounts[0]?.id ?? "";
  return usage
    .filter(({ quantity }) => quantity.trim() !== "")
    .flatMap(({ of, date, quantity, group }, index) => {
      const meterId = findMeterId(book, of);
      const meter = book.usageMeters.find(({ id }) => id === meterId);
      const id = `row ${String(index + 1).padStart(6, "0")}`;
      const row = { accountId, meterId, date, quantity: quantity.trim() };
      return toUsageRows(group === undefined ? row : { ...row, group }, meter, id);
    });
}

/** The id of a meter by its id or name. */
function findMeterId({ usageMeters }: Book, of: string): string {
  return usageMeters.find(({ id, name }) => id === of || name === of)?.id ?? of;
}

/** The book of a text, or its problems. */
export function parseBookText(text: string): { readonly book: Book } | { readonly problems: readonly PlayProblem[] } {
  const document = parseJsonDocument(text);
  if (!("value" in document)) {
    const { line, column, message } = document;
    return { problems: [{ message: toPrintable(`not JSON: ${message}`), line, column }] };
  }
  try {
    return { book: parseBook(document.value) };
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    const problems = "problems" in error.details ? error.details.problems : [{ path: "$", message: error.message }];
    const locatedProblems = [...document.repeatedKeys, ...problems].map((problem) => ({
      message: toPrintable(`${problem.path}: ${problem.message}`),
      ...("code" in problem ? { problem } : {}),
      ...document.findPlace(problem),
    }));
    return { problems: locatedProblems };
  }
}

/** The sum of typed usage and the last license quantities, by id. */
function sumQuantities(book: Book, { usage }: PlayState): ReadonlyMap<string, Decimal> {
  const quantities = new Map<string, Decimal>();
  for (const { of, quantity } of usage) {
    const id = findMeterId(book, of);
    const isLevel = book.usageMeters.some((meter) => meter.id === id && mayBeProrated(meter));
    const combine = isLevel ? maximum : add;
    try {
      quantities.set(id, combine(quantities.get(id) ?? ZERO, parseDecimal(quantity.trim())));
    } catch (error) {
      // Invalid numbers are reported when the usage is priced.
      if (!(error instanceof RatebookError)) throw error;
    }
  }
  for (const { licenseId, quantity } of book.accounts[0]?.licenseUpdates ?? []) quantities.set(licenseId, quantity);
  return quantities;
}

/** Units by default of each group of a price table, in units of its rates. */
const GROUP_UNITS = 2;

/** A state that has even usage of the meters that plans price, if it has no usage and no events. */
export function withEvenUsage(state: PlayState, { book, curves, problems }: PlayBill, days: Days): PlayState {
  if (book === undefined || problems.length > 0 || state.usage.length > 0 || state.events.trim() !== "") return state;
  const usage = book.usageMeters.flatMap((meter) => {
    if (takesEventsOnly(meter, book)) return [];
    for (const { id, pricePlanDetails } of book.pricePlans) {
      const card = pricePlanDetails.usageRateCards.find(({ usageMeterId }) => usageMeterId === meter.id);
      if (card === undefined) continue;
      const shape = readShape(meter, book);
      const perGroup = multiply(card.rateTable?.per ?? decimalOfInteger(1), decimalOfInteger(GROUP_UNITS));
      const tableTotal = multiply(perGroup, decimalOfInteger(shape.groups?.length ?? 1)).toFixed();
      const total = curves.get(curveKey(id, itemKey("USAGE", meter.id)))?.quantity ?? tableTotal;
      return spreadTotal([], total, shape, days);
    }
    return [];
  });
  const next = { ...state, usage };
  return computeBill(next).problems.length > 0 ? state : next;
}

/** A file of events that is in the folder of the shell, and the text of its map. */
interface NamedFile {
  readonly name: string;
  readonly map?: string | undefined;
}

/**
 * The commands that write the files and price them. A file that was loaded has to be in the folder.
 *
 * @throws {RatebookError} for usage that cannot be priced
 */
export function formatCommand(state: PlayState, book: Book, file?: NamedFile): string {
  const { from, until } = state;
  const map = file?.map;
  const rows = file === undefined ? listUsageRows(book, state).map((row) => stringifyJson(row)) : [];
  const events = file === undefined ? state.events.trim() : "";
  const files: readonly (readonly [name: string, text: string])[] = [
    ["book.jsonc", state.book],
    ...(rows.length === 0 ? [] : [["usage.ndjson", rows.join("\n")] as const]),
    ...(events === "" ? [] : [["events.ndjson", events] as const]),
    ...(map === undefined ? [] : [["map.json", map] as const]),
  ];
  const options = [
    ...(rows.length === 0 ? [] : ["--usage usage.ndjson"]),
    ...(events === "" ? [] : ["--events events.ndjson"]),
    ...(file === undefined ? [`--from ${from} --until ${until}`] : [`--events ${quoteForShell(`./${file.name}`)}`]),
    ...(map === undefined ? [] : ["--map map.json"]),
  ];
  return [...files.map(writeFile), `npx ratebook preview book.jsonc ${options.join(" ")}\n`].join("");
}

/** A here document, which ends with a line that the text does not have. */
function writeFile([name, text]: readonly [name: string, text: string]): string {
  const lines = new Set(text.split("\n"));
  let end = "END";
  while (lines.has(end)) end += "_";
  return `cat > ${name} <<'${end}'\n${text}${text.endsWith("\n") ? "" : "\n"}${end}\n`;
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
