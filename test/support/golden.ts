/** The golden cases, each with its whole book and events: what a case leaves out is in `catalog.json`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { type Book, type PreviewOptions, readBook } from "../../src/index.ts";

/** Parts of a book, an account or an event, as JSON. */
type Parts = Readonly<Record<string, unknown>>;

/** One case of a golden file. */
export interface Golden {
  readonly it: string;
  /** The figures, worked out in words. */
  readonly because: string;
  /** Laid over the catalog's book: plans, accounts, and whatever else differs. */
  readonly book: Parts;
  readonly events: readonly unknown[];
  readonly options: PreviewOptions;
  /** How many events had which status, where not all are accepted. */
  readonly counts?: Readonly<Record<string, number>>;
  readonly invoices: readonly {
    readonly invoice: string;
    readonly lines: readonly string[];
    readonly due?: string;
    readonly notices?: readonly string[];
  }[];
}

/** A case as it is written. */
interface Written extends Omit<Golden, "book" | "events"> {
  /** What differs from the catalog's book, but for plans and accounts. */
  readonly book?: Parts;
  /** The fields of each plan and of its details that differ from the catalog's plan. */
  readonly plans: readonly Parts[];
  /** The fields of the one account that differ from the catalog's account. */
  readonly account: Parts;
  /** The fields of each event that differ from the catalog's event. */
  readonly events?: readonly Parts[];
}

const GOLDEN = join(import.meta.dirname, "../golden");
const catalog = contentOf("catalog.json") as Readonly<
  Record<"pricePlan" | "pricePlanDetails" | "account" | "event" | "book", Parts>
>;

function contentOf(file: string): unknown {
  return JSON.parse(readFileSync(join(GOLDEN, file), "utf8"));
}

/** The catalog with a case's book over it. */
export function bookOf({ book }: Pick<Golden, "book">): Book {
  return readBook({ ...catalog.book, ...book });
}

/** The files of golden cases, each with its cases. */
export function goldenFiles(): readonly { readonly file: string; readonly cases: readonly Golden[] }[] {
  return readdirSync(GOLDEN)
    .filter((file) => file.endsWith(".json") && file !== "catalog.json")
    .map((file) => ({ file, cases: (contentOf(file) as readonly Written[]).map(wholeOf) }));
}

/** Every golden case of every file. */
export function goldenCases(): readonly Golden[] {
  return goldenFiles().flatMap(({ cases }) => cases);
}

function wholeOf({ plans, account, events = [], book, ...rest }: Written): Golden {
  return {
    ...rest,
    book: { ...book, pricePlans: plans.map(planOf), accounts: [{ ...catalog.account, ...account }] },
    events: events.map((event) => ({ ...catalog.event, ...event })),
  };
}

/** A plan whose fields and details are written side by side. */
function planOf(written: Parts): Parts {
  const { pricePlan, pricePlanDetails } = catalog;
  const [own, details] = [{ ...pricePlan }, { ...pricePlanDetails }];
  for (const [field, value] of Object.entries(written)) (field in pricePlan ? own : details)[field] = value;
  return { ...own, pricePlanDetails: details };
}
