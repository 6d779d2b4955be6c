/** A missing optional package is reported with a one-sentence message, not as an internal error. */
import { expect, test } from "vitest";

import { describeMissingPackage } from "../../src/cli/failures.ts";

test("a package that is not installed is named, with how to install it", async () => {
  const absent: string = "a-package-that-nobody-has-installed";
  const error: unknown = await import(absent).catch((reason: unknown) => reason);
  // The test runner has its own message for this; users see Node's.
  const nodes = Object.assign(new Error("Cannot find package 'fastify' imported from /x/dist/server/serve.js"), {
    code: "ERR_MODULE_NOT_FOUND",
  });
  expect(describeMissingPackage(nodes)).toBe(
    "this command needs the package fastify; install it with npm install --include=optional",
  );
  expect((error as { readonly code?: unknown }).code).toBe("ERR_MODULE_NOT_FOUND");
});

test("a missing module of ratebook itself is an internal error", () => {
  const error = Object.assign(new Error("Cannot find module '/x/dist/a.js' imported from /x/dist/b.js"), {
    code: "ERR_MODULE_NOT_FOUND",
  });
  expect(describeMissingPackage(error)).toBeUndefined();
  expect(describeMissingPackage(new Error("Cannot find package 'fastify'"))).toBeUndefined();
});
