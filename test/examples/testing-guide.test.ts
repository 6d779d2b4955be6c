/** The programs of the guide on laws print what it says. */
import { expect, test } from "vitest";

import { readGuide, readProgram, runProgram } from "../support/guides.ts";

const guide = readGuide("guide/testing.md");
/** Each program of the guide, and the text right behind it or behind the snippet that follows. */
const programs = [...guide.matchAll(/```ts\n([^]*?)\n```[^]*?```text\n([^]*?)\n```/g)].map(
  ([, program = "", output = ""]) => ({ program, printed: output }),
);
const files = ["falling-plan.ts", "trial-revenue.ts", "nobody-pays-more.ts"];

test("has these programs", () => {
  expect(programs.map(({ program }) => program)).toEqual(
    files.map((file) =>
      readProgram(`test/examples/${file}`)
        .replaceAll("../../src/index.ts", "ratebook")
        .replaceAll("../../src/testing.ts", "ratebook/testing")
        .trimEnd(),
    ),
  );
});

test.each(files)("%s prints what the guide says", async (file) => {
  expect(await runProgram(`test/examples/${file}`)).toBe(programs[files.indexOf(file)]?.printed);
});
