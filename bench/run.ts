/**
 * Runs the benchmarks, or those whose name contains a given word, and prints rates and ratios. With `--smoke` they are
 * just large enough to show that they work.
 */
import { BENCHES } from "./registry.ts";

const words = process.argv.slice(2);
const size = words.includes("--smoke") ? "smoke" : "full";
const names = words.filter((word) => !word.startsWith("--"));

for (const bench of BENCHES) {
  if (names.length > 0 && !names.some((word) => bench.name.includes(word))) continue;
  console.log(`\n${bench.name}`);
  for (const line of await bench.run(size)) console.log(`  ${line}`);
}
