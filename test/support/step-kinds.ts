/** Steps of random histories: each is of one kind and has the fields of that kind. */
import fc from "fast-check";

type Fields = Readonly<Record<string, fc.Arbitrary<unknown>>>;
type Drawn<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;

/** A step of one of the kinds of a table. */
export type StepOf<Kinds extends Readonly<Record<string, Fields>>> = {
  [Kind in keyof Kinds]: { readonly kind: Kind } & { readonly [Name in keyof Kinds[Kind]]: Drawn<Kinds[Kind][Name]> };
}[keyof Kinds];

/**
 * Steps of the kinds of a table, by the fields of each.
 *
 * @param weights how often kinds are drawn that are drawn more than once
 */
export function stepArbitrary<const Kinds extends Readonly<Record<string, Fields>>>(
  kinds: Kinds,
  weights: { readonly [Kind in keyof Kinds]?: number } = {},
): fc.Arbitrary<StepOf<Kinds>> {
  const steps = Object.entries(kinds).map(([kind, fields]) => ({
    weight: weights[kind] ?? 1,
    arbitrary: fc.record({ kind: fc.constant(kind), ...fields }),
  }));
  return fc.oneof(...steps) as unknown as fc.Arbitrary<StepOf<Kinds>>;
}
