/** Every benchmark, in the order in which they run. */
import type { Bench } from "./bench.ts";
import { cliBenches } from "./cli/event-files.ts";
import { engineBenches } from "./engine/memory.ts";
import { invoicingBenches } from "./invoicing/draw.ts";
import { meteringBenches } from "./metering/metering.ts";
import { packageBenches } from "./package/sizes.ts";
import { ratingBenches } from "./rating/slabs.ts";
import { ruleBenches } from "./rules/rules.ts";
import { serverBenches } from "./server/ingest.ts";
import { storeBenches } from "./store/postgres.ts";

export const BENCHES: readonly Bench[] = [
  ...ruleBenches,
  ...meteringBenches,
  ...ratingBenches,
  ...invoicingBenches,
  ...cliBenches,
  ...storeBenches,
  ...engineBenches,
  ...serverBenches,
  ...packageBenches,
];
