/** Runs of `ratebook init`, and of the commands that it prints. */
import { afterEach, expect } from "vitest";

import { type CommandResult, type Folder, testFolder } from "../fake-io.ts";

/** A folder that is empty before each test; what `init` writes is in `prices`. */
export interface InitFolder extends Folder {
  /** Runs `init prices --from` with a file of this content. */
  readonly init: (content: string | Uint8Array, ...options: readonly string[]) => Promise<CommandResult>;
  /** Runs the two printed commands, and returns the result of the second one. */
  readonly runPrinted: (out: string) => Promise<CommandResult>;
}

export function initFolder(): InitFolder {
  const files = testFolder();
  afterEach(files.clear);
  return {
    ...files,
    init: async (content, ...options) =>
      files.run(["init", `${files.path}/prices`, "--from", files.file("usage.csv", content), ...options]),
    runPrinted: async (out) => {
      const [check = "", preview = ""] = [...out.matchAll(/^ *npx ratebook (.*)$/gm)].map(
        ([, command = ""]) => command,
      );
      expect(await files.run(check)).toMatchObject({ code: 0, err: "" });
      return files.run(preview);
    },
  };
}
