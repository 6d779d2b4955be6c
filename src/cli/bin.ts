#!/usr/bin/env node
import module from "node:module";

// Node 22.8 and later keep the compiled code of what is loaded next, so that the program starts faster.
(module as { readonly enableCompileCache?: () => unknown }).enableCompileCache?.();
const [{ createProcessIo }, { runCommandLine }] = await Promise.all([import("./io.ts"), import("./run.ts")]);

process.exitCode = await runCommandLine(process.argv.slice(2), createProcessIo());
