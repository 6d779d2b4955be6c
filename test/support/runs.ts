/**
 * The number of runs of a slow law: all of them in `npm run test:long`, a fifth in `npm test`, at least two.
 *
 * @param all for laws that take seconds; quick ones set their number themselves
 * @param short the runs in `npm test`, if a fifth of them would still take too long
 */
export function runs(all: number, short: number = Math.max(2, Math.round(all / 5))): number {
  return process.env["RATEBOOK_RUNS"] === "all" ? all : short;
}
