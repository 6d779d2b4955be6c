/** The programs of the guide on laws print what it says. */
import { expect, test } from "vitest";

import { guideOf, printedBy, programOf } from "../support/guides.ts";

const guide = guideOf("testing-your-plan.md");
/** Each program of the guide, and the text right behind it or behind the snippet that follows. */
const programs = [...guide.matchAll(/```ts\n([^]*?)\n```[^]*?```text\n([^]*?)\n```/g)].map(
  ([, program = "", printed = ""]) => ({ program, printed }),
);
const files = ["falling-plan.ts", "trial-revenue.ts", "nobody-pays-more.ts"];

test("has these programs", () => {
  expect(programs.map(({ program }) => program)).toEqual(
    files.map((file) =>
      programOf(file)
        .replaceAll("../../src/index.ts", "ratebook")
        .replaceAll("../../src/testing.ts", "ratebook/testing")
        .trimEnd(),
    ),
  );
});

test.each(files)("%s prints what the guide says", async (file) => {
  expect(await printedBy(file)).toBe(programs[files.indexOf(file)]?.printed);
});
