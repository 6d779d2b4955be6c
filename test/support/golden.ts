/** The golden cases, each with its whole book and events: fields that a case omits are in `catalog.json`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { PreviewOptions } from "../../src/index.ts";
import { type Part } from "../book/builder.ts";
import { CATALOG } from "../book/catalog-book.ts";

/** One case of a golden file. */
export interface Golden {
  readonly it: string;
  /** How the figures were calculated, in words. */
  readonly because: string;
  /** Overrides the catalog's book: plans, accounts, and other differences. */
  readonly book: Part;
  readonly events: readonly unknown[];
  readonly options: PreviewOptions;
  /** The number of events with each status, if not all are accepted. */
  readonly counts?: Readonly<Record<string, number>>;
  readonly invoices: readonly {
    readonly invoice: string;
    readonly lines: readonly string[];
    readonly due?: string;
    readonly notices?: readonly string[];
  }[];
}

/** A case as written in its file. */
interface GoldenSource extends Omit<Golden, "book" | "events"> {
  /** The differences from the catalog's book, without plans and accounts. */
  readonly book?: Part;
  /** The fields of each plan and of its details that differ from the catalog's plan. */
  readonly plans: readonly Part[];
  /** The fields of the one account that differ from the catalog's account. */
  readonly account: Part;
  /** The fields of each event that differ from the catalog's event. */
  readonly events?: readonly Part[];
}

const GOLDEN = join(import.meta.dirname, "../golden");

function readGoldenFile(file: string): unknown {
  return JSON.parse(readFileSync(join(GOLDEN, file), "utf8"));
}

/** The files of golden cases, each with its cases. */
export function goldenFiles(): readonly { readonly file: string; readonly cases: readonly Golden[] }[] {
  return readdirSync(GOLDEN)
    .filter((file) => file.endsWith(".json") && file !== "catalog.json")
    .map((file) => ({ file, cases: (readGoldenFile(file) as readonly GoldenSource[]).map(toGolden) }));
}

/** Every golden case of every file. */
export function goldenCases(): readonly Golden[] {
  return goldenFiles().flatMap(({ cases }) => cases);
}

function toGolden({ plans, account, events = [], book, ...rest }: GoldenSource): Golden {
  return {
    ...rest,
    book: { ...book, pricePlans: plans.map(toPlan), accounts: [{ ...CATALOG.account, ...account }] },
    events: events.map((event) => ({ ...CATALOG.event, ...event })),
  };
}

/** Separates the fields of a plan from those of its details, which a file lists together. */
function toPlan(source: Part): Part {
  const { pricePlan, pricePlanDetails } = CATALOG;
  const [own, details] = [{ ...pricePlan }, { ...pricePlanDetails }];
  for (const [field, value] of Object.entries(source)) (field in pricePlan ? own : details)[field] = value;
  return { ...own, pricePlanDetails: details };
}
