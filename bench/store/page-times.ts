/** The time of list pages over many accounts: up to date, a month behind, and billed. */
import type { BookInput } from "../../src/book/resources/book.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { Page, PageOptions } from "../../src/engine/pages.ts";
import type { Store } from "../../src/store/store.ts";
import { seconds } from "../bench.ts";

const LOADED = Date.parse("2024-03-10T00:00:00Z");
/** A month later, without a bill run. */
const MONTH_LATER = Date.parse("2024-04-02T00:00:00Z");
/** Pages that take longer, in seconds, are measured once. */
const SLOW_PAGE_SECONDS = 2;

export interface ListUnderTest<Filter, Item> {
  /** A book with a number of accounts. */
  readonly book: (accounts: number) => BookInput;
  /** Named filters; the first selects everything. */
  readonly filters: readonly (readonly [string, Filter])[];
  readonly list: (engine: Engine, filter: Filter, page: PageOptions) => Promise<Page<Item>>;
  /** Reads one of the list's items. */
  readonly get?: (engine: Engine, item: Item) => Promise<unknown>;
}

/**
 * One line for each state of the accounts: milliseconds for a page of 50, the best of three because the first compiles.
 */
export async function measurePages<Filter, Item>(
  { book, filters, list, get }: ListUnderTest<Filter, Item>,
  store: Store,
  size: "smoke" | "full",
): Promise<readonly string[]> {
  const accounts = size === "full" ? Number(process.env["ACCOUNTS"] ?? 100_000) : 200;
  let now = LOADED;
  const engine = createEngine({ store, clock: () => now });
  await engine.load(book(accounts));
  const lines: string[] = [];
  for (const [state, at] of [
    ["caught up", LOADED],
    ["behind", MONTH_LATER],
    ["billed", MONTH_LATER],
  ] as const) {
    now = at;
    if (state === "billed") await engine.finalize();
    const figures: string[] = [];
    for (const [filterName, filter] of filters) {
      const best = await bestOfThree(() => list(engine, filter, { limit: 50 }));
      figures.push(`${filterName} ${toMilliseconds(best)}`);
    }
    const [[, all] = []] = filters;
    if (all === undefined) throw new Error("a list needs at least one filter");
    const { items, next } = await list(engine, all, { limit: 50 });
    const last = items.at(-1);
    if (last === undefined || next === undefined) throw new Error("expected more than one page");
    figures.push(`the next page ${toMilliseconds(await seconds(() => list(engine, all, { limit: 50, after: next })))}`);
    if (get !== undefined) figures.push(`one ${toMilliseconds(await seconds(() => get(engine, last)))}`);
    lines.push(`${accounts.toLocaleString("en-US")} accounts, ${state}, in ms: ${figures.join(", ")}`);
  }
  return lines;
}

async function bestOfThree(work: () => Promise<unknown>): Promise<number> {
  const times = [await seconds(work)];
  while (times.length < 3 && (times[0] ?? 0) < SLOW_PAGE_SECONDS) times.push(await seconds(work));
  return Math.min(...times);
}

function toMilliseconds(seconds: number): string {
  return (seconds * 1000).toFixed(1);
}
