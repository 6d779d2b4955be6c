/**
 * Type-checks books written in TypeScript.
 *
 * @module
 */
import type { BookInput } from "./resources/book.ts";

/** The id or name of a usage meter, as cards may refer to it. */
type MeterNames<Meters> = Meters extends readonly (infer Meter)[]
  ? Meter extends { readonly id: infer Id extends string; readonly name: infer Name extends string }
    ? Id | Name
    : string
  : string;

type PlanInput = NonNullable<BookInput["pricePlans"]>[number];
type DetailsInput = PlanInput["pricePlanDetails"];
type UsageCardInput = NonNullable<DetailsInput["usageRateCards"]>[number];

/** A price plan whose usage cards may refer only to these meters. */
type PlanFor<Names extends string> = Omit<PlanInput, "pricePlanDetails"> & {
  readonly pricePlanDetails: Omit<DetailsInput, "usageRateCards"> & {
    readonly usageRateCards?:
      | readonly (Omit<UsageCardInput, "usageMeterId"> & { readonly usageMeterId: Names })[]
      | null
      | undefined;
  };
};

/** A book with these meters, whose plans refer to no others. */
type BookWith<Meters extends BookInput["usageMeters"]> = Omit<BookInput, "usageMeters" | "pricePlans"> & {
  readonly usageMeters?: Meters;
  readonly pricePlans?: readonly PlanFor<MeterNames<NoInfer<Meters>>>[] | null | undefined;
};

/**
 * Types a value as a book: editors complete its fields, and the compiler rejects misspelt values, missing fields, and
 * usage cards for unknown meters. Returns the value itself; {@link readBook} makes all other checks.
 */
export function defineBook<const Meters extends BookInput["usageMeters"]>(book: BookWith<Meters>): BookInput {
  return book;
}
