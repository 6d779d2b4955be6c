import { memoryStore } from "../../../src/store/memory/memory.ts";
import { testPreviewLaw } from "./law-tests.ts";

testPreviewLaw("memory", async () => memoryStore(), { events: 30, invoices: 30, long: 15 });
