/** Events ordered by timestamp: valid, invalid, repeated, huge and tiny. */
import fc from "fast-check";

import { instants, LONG } from "./books.ts";

/** Numbers at the limits of meters and entries: 1e13 cubed has 40 digits, 1e14 cubed 43. */
export const values = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>(0, 1, 2, 5, 10, 0.5, 1e-7) },
  { weight: 6, arbitrary: fc.constantFrom<unknown>("1e13", 1e-13) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(-1, 1e14, 1e15, 1e-14, "9".repeat(20), `0.${"0".repeat(19)}1`, LONG),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>("1e21", "many", "") },
);

const arbitraryEvent = (value: fc.Arbitrary<unknown>): fc.Arbitrary<ArbitraryEvent> =>
  fc.record({
    /** In order; some are equal. */
    at: instants,
    schemaName: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom("call", "job", "render", "scaled job") },
      { weight: 1, arbitrary: fc.constantFrom("ping", "unknown") },
    ),
    id: fc.nat(60).map((place) => `e${place}`),
    accountId: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom("a", "a", "alias.a", "b", "alias.b") },
      { weight: 1, arbitrary: fc.constantFrom("gone", "alias.gone", "nobody", "__proto__") },
    ),
    value,
    region: fc.constantFrom<unknown>("eu", "eu", "eu", "lab", 5, undefined),
    fault: fc.oneof(
      { weight: 20, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom("nothing", "no id", "no timestamp", "twice", "no attributes") },
    ),
  });

function buildEvent({ at, schemaName, id, accountId, value, region, fault }: ArbitraryEvent): unknown {
  const attributes = [{ name: "units", value }];
  const whole = {
    schemaName,
    id,
    accountId,
    timestamp: new Date(at).toISOString(),
    attributes,
    ...(region === undefined ? {} : { dimensions: { region } }),
  };
  switch (fault) {
    case undefined:
      return whole;
    case "nothing":
      return null;
    case "no id":
      return { ...whole, id: 7 };
    case "no timestamp":
      return { ...whole, timestamp: "2024-02-30T00:00:00Z" };
    case "twice":
      return { ...whole, attributes: [...attributes, ...attributes] };
    case "no attributes":
      return { ...whole, attributes: null };
  }
}

interface ArbitraryEvent {
  readonly at: number;
  readonly schemaName: string;
  readonly id: string;
  readonly accountId: string;
  readonly value: unknown;
  readonly region: unknown;
  readonly fault: "nothing" | "no id" | "no timestamp" | "twice" | "no attributes" | undefined;
}

/** Up to thirty events with such values. */
export const arbitraryEvents = (value: fc.Arbitrary<unknown>): fc.Arbitrary<readonly unknown[]> =>
  fc
    .array(arbitraryEvent(value), { minLength: 1, maxLength: 30, size: "max" })
    .map((list) => list.toSorted((a, b) => a.at - b.at).map(buildEvent));

/** With each event one with a large and one with a fine number: the sum of their cubes has 79 digits. */
export const wideEvents = fc
  .array(arbitraryEvent(fc.constant(1)), { minLength: 2, maxLength: 8, size: "max" })
  .map((list) =>
    list
      .toSorted((a, b) => a.at - b.at)
      .flatMap((each, place) => [
        buildEvent(each),
        ...["1e13", 1e-13].map((value) =>
          buildEvent({
            ...each,
            schemaName: "call",
            id: `wide.${place}.${value}`,
            value,
            region: "eu",
            fault: undefined,
          }),
        ),
      ]),
  );
