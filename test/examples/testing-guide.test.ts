/** The programs in the guide to testing print the output shown. */
import { expect, test } from "vitest";

import { readGuide, readProgram, runProgram } from "../support/guides.ts";

const guide = readGuide("guide/testing.md");
/** Each program of the guide with the output block after it, or after the snippet that follows it. */
const programs = [...guide.matchAll(/```ts\n([^]*?)\n```[^]*?```text\n([^]*?)\n```/g)].map(
  ([, program = "", output = ""]) => ({ program, printed: output }),
);
const files = ["falling-plan.ts", "trial-revenue.ts", "nobody-pays-more.ts"];

test("contains these programs", () => {
  expect(programs.map(({ program }) => program)).toEqual(
    files.map((file) =>
      readProgram(`test/examples/${file}`)
        .replaceAll("../../src/index.ts", "ratebook")
        .replaceAll("../../src/testing.ts", "ratebook/testing")
        .trimEnd(),
    ),
  );
});

test.each(files)("%s prints the output shown", async (file) => {
  expect(await runProgram(`test/examples/${file}`)).toBe(programs[files.indexOf(file)]?.printed);
});
