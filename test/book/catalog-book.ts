/** The one catalog that tests sell, and books of it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { readBook } from "../../src/book/book.ts";
import type { Book } from "../../src/book/model/book.ts";
import type { Part } from "./builder.ts";

/** What golden cases are laid over: schemas `call`, `store` and `token`, their meters and feature, add-ons, a customer. */
export const CATALOG = JSON.parse(
  readFileSync(join(import.meta.dirname, "../golden/catalog.json"), "utf8"),
) as Readonly<Record<"pricePlan" | "pricePlanDetails" | "account" | "event" | "book", Part>>;

/** The catalog's book with these parts over it. */
export function catalogBook(parts: Part): Book {
  return readBook({ ...CATALOG.book, ...parts });
}

/** The catalog's book with these plans, and parts over it. */
export const bookWithPlans = (pricePlans: readonly object[], more: Part = {}): Book =>
  catalogBook({ pricePlans, ...more });
