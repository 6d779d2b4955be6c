/** Types of a book whose items refer to each other by name, so that the compiler finds misspelt names. */
import type { ShortBookInput } from "./resources/book.ts";

type List<Key extends keyof ShortBookInput> = ShortBookInput[Key];
type Item<Items> = Items extends readonly (infer One)[] ? One : never;
/** The texts in a union; any text if there is none, or one that is not literal. */
type Known<Names> = [Names] extends [never] ? string : string extends Names ? string : Names & string;
/** The value of a field, in those members of a union that have it. */
type Field<Items, Key extends string> = Items extends { readonly [K in Key]: infer Value } ? Value : never;
/** Ids and names, by which items refer to each other. */
type Names<Items> = Known<Field<Item<Items>, "id"> | Field<Item<Items>, "name">>;
/** The names in a list of declared fields: texts, or objects with a name. */
type DeclaredNames<Fields> = Item<Fields> extends infer One ? (One extends string ? One : Field<One, "name">) : never;
/** The names of fields of a kind, declared or computed. */
type FieldNames<Schemas, Declared extends string, Computed extends string> = Known<
  | DeclaredNames<Field<Item<Schemas>, Declared>>
  | keyof Field<Item<Schemas>, Computed>
  | Field<Item<Field<Field<Item<Schemas>, "enrichments">, "fields">>, "name">
>;

/** An item whose short and long fields may only have these texts. */
type Checked<One, Fields> = One extends object
  ? { readonly [Key in keyof One]: Key extends keyof Fields ? Fields[Key] : One[Key] }
  : One;

type MeterOf<Schemas> = Checked<
  Item<List<"usageMeters">>,
  {
    readonly schema: Known<Field<Item<Schemas>, "name">>;
    readonly eventSchemaName: Known<Field<Item<Schemas>, "name">>;
    readonly sum?: FieldNames<Schemas, "attributes", "computed"> | Readonly<Record<string, unknown>> | null | undefined;
  }
>;
type UsageOf<Card, Meters> = Checked<Card, { readonly meter: Names<Meters>; readonly usageMeterId: Names<Meters> }>;
type UsageCards<Cards, Meters> = readonly UsageOf<Item<NonNullable<Cards>>, Meters>[] | null | undefined;
type PlanOf<Plan, Meters> = Plan extends { readonly pricePlanDetails: infer Details }
  ? Omit<Plan, "pricePlanDetails"> & {
      readonly pricePlanDetails: Omit<Details, "usageRateCards"> & {
        readonly usageRateCards?: UsageCards<Field<Required<Details>, "usageRateCards">, Meters>;
      };
    }
  : Omit<Plan, "usage"> & { readonly usage?: UsageCards<Field<Required<Plan>, "usage">, Meters> };
type AccountOf<PlanName extends string, LicenseName extends string> = Checked<
  Item<List<"accounts">>,
  {
    readonly plan?: Known<PlanName> | null | undefined;
    readonly licenses?: Quantities<Known<LicenseName>> | null | undefined;
  }
>;
/** Quantities by license, as accounts have them. */
type Quantities<LicenseName extends string> = {
  readonly [Name in LicenseName]?: NonNullable<Field<Required<Item<List<"accounts">>>, "licenses">>[string];
};
type LicensePrice = Item<NonNullable<Field<Required<Item<List<"pricePlans">>>, "licenses">>>;
/** An id and a name, from which the names of a kind are inferred. */
interface Named<Name extends string> {
  readonly id: Name;
  readonly name?: Name | null;
}

/** A book whose parts refer only to parts that it has. */
type BookOf<Schemas, Meters, PlanName extends string, LicenseName extends string> = Omit<
  ShortBookInput,
  "eventSchemas" | "usageMeters" | "addOns" | "pricePlans" | "accounts"
> & {
  readonly eventSchemas?: Schemas;
  readonly usageMeters?: Meters & readonly MeterOf<NoInfer<Schemas>>[];
  readonly addOns?: readonly (Item<List<"addOns">> & Named<LicenseName>)[] | null | undefined;
  readonly pricePlans?:
    | readonly (PlanOf<Item<List<"pricePlans">>, NoInfer<Meters>> &
        Named<PlanName> & { readonly licenses?: readonly (LicensePrice & Named<LicenseName>)[] | null })[]
    | null
    | undefined;
  readonly accounts?: readonly AccountOf<NoInfer<PlanName>, NoInfer<LicenseName>>[] | null | undefined;
};

/**
 * Types a value as a book: editors complete its fields, and the compiler rejects misspelt values, missing fields, and
 * references to schemas, attributes, meters, plans and licenses that the book does not have. Returns the value itself;
 * {@link readBook} makes all other checks.
 */
export function defineBook<
  const Schemas extends List<"eventSchemas">,
  const Meters extends List<"usageMeters">,
  const PlanName extends string,
  const LicenseName extends string = never,
>(book: BookOf<Schemas, Meters, PlanName, LicenseName>): ShortBookInput {
  return book as ShortBookInput;
}
