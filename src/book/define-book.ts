/** Types of a book whose items refer to each other by name, so that the compiler finds misspelt names. */
import type { ShortBookInput } from "./resources/book.ts";
import type { PricePlanDetailsInput, PricePlanInput } from "./resources/price-plan.ts";
import type { ShortAccountInput } from "./resources/short-items.ts";
import type { ShortPlanInput } from "./resources/short-plan.ts";

type Item<Items> = Items extends readonly (infer One)[] ? One : never;
/** The value of a field, in those members of a union that have it. */
type Field<One, Key extends string> = One extends { readonly [K in Key]: infer Value } ? Value : never;
/** The texts in a union; any text if there is none, or one that is not literal. */
type Known<Names> = [Names] extends [never] ? string : string extends Names ? string : Names & string;
/** The names of attributes or dimensions, declared or computed. */
type FieldName<Schema, Declared extends string, Computed extends string> =
  | Extract<Item<Field<Schema, Declared>>, string>
  | Field<Item<Field<Schema, Declared>> | Item<Field<Field<Schema, "enrichments">, "fields">>, "name">
  | KeyOf<Field<Schema, Computed>>;
/** The keys of an object; none if there is no object, where `keyof` has all. */
type KeyOf<One> = One extends unknown ? keyof One : never;

/** A list of items that also have the fields of a type. */
type ListWith<Items, Fields> = readonly (Item<Items> & Fields)[] | null | undefined;
/** An object with such a list in a field. */
type WithList<One, Key extends keyof One, Fields> = Omit<One, Key> & {
  readonly [K in Key]?: ListWith<One[K], Fields>;
};
/** An id and a name, from which the names of a kind are inferred. */
interface Named<Name> {
  readonly id: Name;
  readonly name?: Name | null | undefined;
}

interface MeterReferences<Schema> extends Partial<
  Record<"sum" | "max" | "min" | "latest" | "level" | "change", AttributeOf<Schema> | object | null>
> {
  readonly schema?: Known<Field<Schema, "name">>;
  readonly eventSchemaName?: Known<Field<Schema, "name">>;
  readonly unique?: DimensionOf<Schema> | object | null | undefined;
  readonly groupBy?: readonly DimensionOf<Schema>[] | null | undefined;
}
type AttributeOf<Schema> = Known<FieldName<Schema, "attributes", "computed">>;
type DimensionOf<Schema> = Known<FieldName<Schema, "dimensions", "computedDimensions">>;
type MeterName<Meter> = Known<Field<Meter, "id"> | Field<Meter, "name">>;
type PlanOf<MeterName, LicenseName> =
  | WithList<WithList<ShortPlanInput, "usage", { readonly meter: MeterName }>, "licenses", Named<LicenseName>>
  | (Omit<PricePlanInput, "pricePlanDetails"> & {
      readonly pricePlanDetails: WithList<
        PricePlanDetailsInput,
        "usageRateCards",
        { readonly usageMeterId: MeterName }
      >;
    });
interface AccountOf<Plan extends string, License extends string> extends Omit<ShortAccountInput, "plan" | "licenses"> {
  readonly plan?: Plan | null | undefined;
  readonly licenses?: { readonly [Name in License]?: LicenseQuantity } | null | undefined;
}
type LicenseQuantity = NonNullable<ShortAccountInput["licenses"]>[string];

/** The lists of a book whose items refer only to parts that it has. */
interface Lists<Schemas, Meters, PlanName, LicenseName> {
  readonly eventSchemas?: Schemas;
  readonly usageMeters?: Meters & ListWith<ShortBookInput["usageMeters"], MeterReferences<Item<NoInfer<Schemas>>>>;
  readonly addOns?: ListWith<ShortBookInput["addOns"], Named<LicenseName>>;
  readonly pricePlans?: ListWith<readonly PlanOf<MeterName<Item<NoInfer<Meters>>>, LicenseName>[], Named<PlanName>>;
  readonly accounts?: readonly AccountOf<Known<NoInfer<PlanName>>, Known<NoInfer<LicenseName>>>[] | null | undefined;
}

/**
 * Types a value as a book: editors complete its fields, and the compiler rejects misspelt values, missing fields, and
 * references to schemas, attributes, dimensions, meters, plans and licenses that the book does not have. Returns the value itself;
 * {@link readBook} makes all other checks.
 */
export function defineBook<
  const Schemas extends ShortBookInput["eventSchemas"],
  const Meters extends ShortBookInput["usageMeters"],
  const PlanName extends string,
  const LicenseName extends string = never,
>(
  book: Lists<Schemas, Meters, PlanName, LicenseName> & Omit<ShortBookInput, keyof Lists<never, never, never, never>>,
): ShortBookInput {
  return book as ShortBookInput;
}
