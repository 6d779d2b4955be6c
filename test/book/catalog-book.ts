/** The catalog shared by tests, and books that use it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { readBook } from "../../src/book/book.ts";
import type { Book } from "../../src/book/resources/book.ts";
import type { Part } from "./builder.ts";

/** The base of golden cases: schemas `call`, `store` and `token`, their meters and feature, add-ons, a customer. */
export const CATALOG = JSON.parse(
  readFileSync(join(import.meta.dirname, "../golden/catalog.json"), "utf8"),
) as Readonly<Record<"pricePlan" | "pricePlanDetails" | "account" | "event" | "book", Part>>;

/** The catalog's book, overridden with these parts. */
export function catalogBook(parts: Part): Book {
  return readBook({ ...CATALOG.book, ...parts });
}

/** The catalog's book with these plans, overridden with these parts. */
export const bookWithPlans = (pricePlans: readonly object[], more: Part = {}): Book =>
  catalogBook({ pricePlans, ...more });
