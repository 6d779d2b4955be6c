/** The shape of a golden case, and its book. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { type Book, type PreviewOptions, readBook } from "../../src/index.ts";

/** One case of a golden file. */
export interface Golden {
  readonly it: string;
  /** The figures, worked out in words. */
  readonly because: string;
  /** Laid over the catalog: plans, accounts, and whatever else differs. */
  readonly book: Readonly<Record<string, unknown>>;
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

const GOLDEN = join(import.meta.dirname, "../golden");

/** The catalog with a case's book over it. */
export function bookOf({ book }: Pick<Golden, "book">): Book {
  const catalog = JSON.parse(readFileSync(join(GOLDEN, "catalog.json"), "utf8")) as Record<string, unknown>;
  return readBook({ ...catalog, ...book });
}

/** Every golden case of every file. */
export function goldenCases(): readonly Golden[] {
  return readdirSync(GOLDEN)
    .filter((file) => file.endsWith(".json") && file !== "catalog.json")
    .flatMap((file) => JSON.parse(readFileSync(join(GOLDEN, file), "utf8")) as Golden[]);
}
