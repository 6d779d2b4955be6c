/**
 * The seed of all random tests. It is fixed, so that a change fails for what it changed and not by chance;
 * `SEED=random npm test` searches where nobody has looked, `SEED=7 npm test` where a search found something.
 */
import * as fc from "fast-check";

const seedText = process.env["SEED"] ?? "20240229";

if (seedText !== "random") {
  const seed = Number(seedText);
  if (!Number.isInteger(seed)) throw new TypeError(`SEED is ${seedText}: expected a whole number, or random`);
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
}
