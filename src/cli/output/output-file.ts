/**
 * Where a result goes: standard output, or a file that appears when it is whole.
 *
 * @module
 */
import { finished } from "node:stream/promises";

import { InputError } from "../../event-files/input-error.ts";
import type { Arguments } from "../arguments.ts";
import { describeSystemError } from "../errors.ts";
import type { Io } from "../io.ts";

/**
 * Does some work whose standard output is the file of `--output`, where one is given. The file takes its name when the
 * work is done; of work that fails nothing is left.
 *
 * @throws {InputError} when the file cannot be written
 */
export async function withOutput<T>(args: Arguments, io: Io, produce: (io: Io) => Promise<T>): Promise<T> {
  const path = args.value("output");
  return path === undefined ? produce(io) : writeToFile(path, io, produce);
}

/** As {@link withOutput}, for a file that is said. @throws {InputError} when the file cannot be written */
export async function writeToFile<T>(path: string, io: Io, produce: (io: Io) => Promise<T>): Promise<T> {
  const throwUnwritable = (error: unknown): never => {
    throw new InputError(`${path}: cannot write: ${describeSystemError(error)}`);
  };
  const file = await io.createFile(path).catch(throwUnwritable);
  try {
    const result = await produce({ ...io, stdout: file.stream, terminal: undefined });
    file.stream.end();
    await finished(file.stream).catch(throwUnwritable);
    await file.commit().catch(throwUnwritable);
    return result;
  } catch (error) {
    await file.discard();
    throw error;
  }
}
