/** A package that an install left out is told in one sentence, and is no fault of the program. */
import { expect, test } from "vitest";

import { describeMissingPackage } from "../../src/cli/missing-package.ts";

test("a package that is not installed is named, with what brings it", async () => {
  const absent: string = "a-package-that-nobody-has-installed";
  const error: unknown = await import(absent).catch((reason: unknown) => reason);
  // The test runner words it in its own way: Node's own sentence is what users meet.
  const nodes = Object.assign(new Error("Cannot find package 'fastify' imported from /x/dist/server/serve.js"), {
    code: "ERR_MODULE_NOT_FOUND",
  });
  expect(describeMissingPackage(nodes)).toBe(
    "this command needs the package fastify; install it with npm install --include=optional",
  );
  expect((error as { readonly code?: unknown }).code).toBe("ERR_MODULE_NOT_FOUND");
});

test("a module of our own that is missing stays a fault of ours", () => {
  const error = Object.assign(new Error("Cannot find module '/x/dist/a.js' imported from /x/dist/b.js"), {
    code: "ERR_MODULE_NOT_FOUND",
  });
  expect(describeMissingPackage(error)).toBeUndefined();
  expect(describeMissingPackage(new Error("Cannot find package 'fastify'"))).toBeUndefined();
});
