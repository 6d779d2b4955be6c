import fc from "fast-check";

import { neverDecreases } from "../../src/testing.ts";

const usage = [{ meter: "um.calls", volumeTiers: [{ upTo: 100, rate: 2 }, { rate: 1 }] }];
const plan = { id: "pp.team", cycle: "MONTHLY", usage } as const;

try {
  fc.assert(neverDecreases(plan), { seed: 1 });
} catch (failure) {
  if (!(failure instanceof Error)) throw failure;
  const cause = failure.cause instanceof Error ? failure.cause.message : "";
  console.log(failure.message.split("\n").slice(2, 11).join("\n"));
  console.log(cause);
}
