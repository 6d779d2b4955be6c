/**
 * Books written in TypeScript, checked while they are written.
 *
 * @module
 */
import type { BookInput } from "./model/book.ts";

/** The id or name by which a usage meter may be referred to. */
type MeterNames<Meters> = Meters extends readonly (infer Meter)[]
  ? Meter extends { readonly id: infer Id extends string; readonly name: infer Name extends string }
    ? Id | Name
    : string
  : string;

type PlanInput = NonNullable<BookInput["pricePlans"]>[number];
type DetailsInput = PlanInput["pricePlanDetails"];
type UsageCardInput = NonNullable<DetailsInput["usageRateCards"]>[number];

/** A price plan whose usage cards may name some meters only. */
type PlanFor<Names extends string> = Omit<PlanInput, "pricePlanDetails"> & {
  readonly pricePlanDetails: Omit<DetailsInput, "usageRateCards"> & {
    readonly usageRateCards?:
      | readonly (Omit<UsageCardInput, "usageMeterId"> & { readonly usageMeterId: Names })[]
      | null
      | undefined;
  };
};

/** A book with these meters, whose plans name no others. */
type BookWith<Meters extends BookInput["usageMeters"]> = Omit<BookInput, "usageMeters" | "pricePlans"> & {
  readonly usageMeters?: Meters;
  readonly pricePlans?: readonly PlanFor<MeterNames<NoInfer<Meters>>>[] | null | undefined;
};

/**
 * Types a value as a book, so that editors complete its fields and the compiler refuses a misspelt choice, a missing field, or
 * a usage card that names no meter of the book. Returns the value itself; {@link readBook} reads it and makes all other checks.
 */
export function defineBook<const Meters extends BookInput["usageMeters"]>(book: BookWith<Meters>): BookInput {
  return book;
}
