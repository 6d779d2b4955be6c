import { memoryStore } from "../../../src/store/memory/memory.ts";
import { runs } from "../../support/runs.ts";
import { testPreviewLaw } from "./law-tests.ts";

testPreviewLaw("memory", async () => memoryStore(), { events: runs(30), invoices: runs(30), long: runs(15) });
