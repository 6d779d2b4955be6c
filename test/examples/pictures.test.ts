/** The pictures of the documentation are up to date, and show what ratebook charges. */
import { expect, test } from "vitest";

import { amountOn, costCurvePicture, flowPicture } from "../support/pictures.ts";

test("the stored pictures are up to date (update with vitest -u)", async () => {
  await expect(flowPicture()).toMatchFileSnapshot("../../docs/pictures/flow.svg");
  await expect(costCurvePicture()).toMatchFileSnapshot("../../docs/pictures/cost-curve.svg");
});

test("the figures of the flow are consistent", () => {
  // 4,500 + 8,000 = 12,500: 1,000 × 0.003 + 9,000 × 0.002 + 2,500 × 0.001 = 23.50, less a credit of 20.
  for (const figure of ["4,500 and 8,000 calls", "12,500 calls", "23.50 USD", "less 20.00: 3.50 USD"]) {
    expect(flowPicture()).toContain(`>${figure}<`);
  }
});

test.each([
  // 60 independent of usage; 8,000 × 0.01; 5,000 × 0.012 + 3,000 × 0.006; 8,000 × 0.006.
  ["flat", 8000, "60"],
  ["per unit", 8000, "80"],
  ["tiered", 8000, "78"],
  ["volume", 8000, "48"],
  // The last unit charged at 0.012.
  ["volume", 5000, "60"],
] as const)("the curve %s is at %i units %s", (name, units, amount) => {
  expect(amountOn(name, units).toFixed()).toBe(amount);
});
