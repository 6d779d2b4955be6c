/**
 * Books written in TypeScript, checked while they are written.
 *
 * @module
 */
import type { BookInput } from "./reading/document.ts";

/** What a usage meter may be called where it is referred to: its id or its name. */
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
 * Says that a value is a book, so that an editor knows its fields and the compiler what it lacks: a misspelt choice, a
 * missing field, a usage card that names no meter of the book. It is given back as it is; {@link readBook} reads it, and
 * finds what types cannot see.
 */
export function defineBook<const Meters extends BookInput["usageMeters"]>(book: BookWith<Meters>): BookInput {
  return book;
}
