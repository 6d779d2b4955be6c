/** Clients that two generators create from an OpenAPI document, compiled in a temporary directory. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { generate } from "orval";
import { generateApi } from "swagger-typescript-api";

import type { Json } from "./document.ts";

const root = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);

const COMPILER = {
  target: "ES2023",
  lib: ["ES2023", "DOM", "DOM.Iterable"],
  module: "NodeNext",
  moduleResolution: "NodeNext",
  types: [],
  strict: true,
  skipLibCheck: true,
  rootDir: ".",
  outDir: "out",
};

/** A directory with generated clients. */
export interface Clients {
  /** By swagger-typescript-api: classes over `fetch`. */
  readonly classes: Json;
  /** By orval: functions over `fetch`. */
  readonly functions: Json;
  /** By orval: a strict zod schema for each status of each operation. */
  readonly answers: Json;
  /**
   * Type-checks a program beside the clients `classes.ts` and `functions.ts`.
   *
   * @returns the output of the compiler
   */
  check(program: string): Promise<string>;
  remove(): Promise<void>;
}

/** Generates and compiles the clients without network access. */
export async function generateClients(document: Json, baseUrl: string): Promise<Clients> {
  const directory = await mkdtemp(join(tmpdir(), "ratebook-clients-"));
  const file = (name: string): string => join(directory, name);
  await symlink(join(root, "node_modules"), file("node_modules"), "dir");
  await writeFile(file("openapi.json"), JSON.stringify(document));
  await writeFile(file("package.json"), JSON.stringify({ type: "module" }));
  await writeFile(file("tsconfig.json"), JSON.stringify({ compilerOptions: COMPILER, include: ["*.ts"] }));
  const remove = async (): Promise<void> => rm(directory, { recursive: true });
  try {
    await writeClasses(file);
    await writeFunctions(file, directory, baseUrl);
    const compilerOutput = await compile(directory);
    if (compilerOutput !== "")
      throw new Error(`the generated clients do not compile: ${compilerOutput.slice(0, 2000)}`);
  } catch (error) {
    await remove();
    throw error;
  }
  const load = async (name: string): Promise<Json> => import(pathToFileURL(file(`out/${name}.js`)).href);
  return {
    classes: await load("classes"),
    functions: await load("functions"),
    answers: await load("answers"),
    check: async (program) => {
      await writeFile(file("program.ts"), program);
      return compile(directory);
    },
    remove,
  };
}

async function writeClasses(file: (name: string) => string): Promise<void> {
  const { files } = await generateApi({
    input: file("openapi.json"),
    output: false,
    silent: true,
    httpClientType: "fetch",
    singleHttpClient: true,
  });
  const [mainFile] = files;
  if (mainFile === undefined || files.length !== 1) throw new Error(`expected one file, got ${files.length}`);
  await writeFile(file("classes.ts"), mainFile.fileContent);
}

async function writeFunctions(file: (name: string) => string, directory: string, baseUrl: string): Promise<void> {
  const input = { target: file("openapi.json") };
  await generate({ input, output: { target: file("functions.ts"), client: "fetch", baseUrl } }, directory);
  const zod = {
    strict: { response: true, query: true, param: true, header: true, body: true },
    generate: { response: true, query: false, param: false, header: false, body: false },
    generateEachHttpStatus: true,
  };
  await generate({ input, output: { target: file("answers.ts"), client: "zod", override: { zod } } }, directory);
}

async function compile(directory: string): Promise<string> {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  try {
    await run(process.execPath, [compiler, "-p", directory], { maxBuffer: 1e8 });
    return "";
  } catch (error) {
    return String((error as { readonly stdout?: unknown }).stdout ?? error);
  }
}
