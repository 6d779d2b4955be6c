/**
 * How many runs a slow law makes: all of them in `npm run test:long`, a fifth in `npm test`, at least two.
 *
 * @param all for laws that take seconds; quick ones say their number themselves
 */
export function runs(all: number): number {
  return process.env["RATEBOOK_RUNS"] === "all" ? all : Math.max(2, Math.round(all / 5));
}
