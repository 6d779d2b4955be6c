/** Samples of a value by users and regions, for meters that do not sum. */
import type { ShortBookInput } from "../../src/book/resources/book.ts";
import type { ShortMeterInput } from "../../src/book/resources/short-items.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";

/** How a book prices the samples of an account. */
export interface SampleTerms {
  readonly usage?: readonly object[];
  readonly from?: string;
  /** The end of the plan, exclusive. */
  readonly until?: string;
}

/** A book of one meter `m`, for the account `contoso` since September 2026, by default at 1.00 a unit. */
export function sampleBook(
  meter: Partial<ShortMeterInput>,
  { usage = [{ meter: "m", rate: 1 }], from = "2026-09-01", until }: SampleTerms = {},
): ShortBookInput {
  const book: object = {
    organization: { id: "acme" },
    eventSchemas: [{ name: "sample", attributes: ["value"], dimensions: ["user", "region"] }],
    usageMeters: [{ id: "m", schema: "sample", ...meter }],
    pricePlans: [{ id: "p", cycle: "MONTHLY", usage }],
    accounts: [{ id: "contoso", plans: [{ plan: "p", from, ...(until && { until }) }] }],
  };
  return book;
}

/** Events of `10-02T10:00 30, 10-14T10:00 ann us`: a time in 2026, a number or the id of a user, and a region or `eu`. */
export function sampleEvents(samples: string): readonly EventInput[] {
  return samples.split(", ").map((sample, index) => {
    const [time, value = "", region = "eu"] = sample.split(" ");
    return {
      schemaName: "sample",
      id: `e${index}`,
      accountId: "contoso",
      timestamp: `2026-${time}Z`,
      attributes: { value: Number(value) || 0 },
      dimensions: { user: value, region },
    };
  });
}
