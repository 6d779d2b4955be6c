/**
 * Where a result goes: standard output, or a file that appears when it is whole.
 *
 * @module
 */
import { finished } from "node:stream/promises";

import { InputError } from "../records/problems.ts";
import type { Arguments } from "./arguments.ts";
import type { Io } from "./io.ts";
import { reasonOf } from "./problems.ts";

/**
 * Does some work whose standard output is the file of `--output`, where one is given. The file takes its name when the
 * work is done; of work that fails nothing is left.
 *
 * @throws {InputError} when the file cannot be written
 */
export async function withOutput<T>(given: Arguments, io: Io, work: (io: Io) => Promise<T>): Promise<T> {
  const path = given.one("output");
  return path === undefined ? work(io) : intoFile(path, io, work);
}

/** As {@link withOutput}, for a file that is said. @throws {InputError} when the file cannot be written */
export async function intoFile<T>(path: string, io: Io, work: (io: Io) => Promise<T>): Promise<T> {
  const unwritable = (error: unknown): never => {
    throw new InputError(`${path}: cannot be written: ${reasonOf(error)}`);
  };
  const file = await io.createFile(path).catch(unwritable);
  try {
    const result = await work({ ...io, stdout: file.stream, terminal: undefined });
    file.stream.end();
    await finished(file.stream).catch(unwritable);
    await file.keep().catch(unwritable);
    return result;
  } catch (error) {
    await file.discard();
    throw error;
  }
}
