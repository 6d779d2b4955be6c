#!/usr/bin/env node
import { createProcessIo } from "./io.ts";
import { runCommandLine } from "./run.ts";

process.exitCode = await runCommandLine(process.argv.slice(2), createProcessIo());
