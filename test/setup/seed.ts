/**
 * The seed of all random tests. It is fixed, so that a failure is caused by a change and not by chance; `SEED=random
 * npm test` searches new cases, `SEED=7 npm test` repeats a search that failed.
 */
import * as fc from "fast-check";

const seedText = process.env["SEED"] ?? "20240229";

if (seedText !== "random") {
  const seed = Number(seedText);
  if (!Number.isInteger(seed)) throw new TypeError(`SEED is ${seedText}: expected a whole number, or random`);
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
}
