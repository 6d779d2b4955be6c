/**
 * The playground in a browser. The same script runs as the worker that prices files, in which there is no document.
 *
 * @module
 */
import { render } from "preact";

import { type WorkerRequest, priceFile } from "./file-worker.ts";
import { readStateFromLink } from "./link.ts";
import { Playground, type PlayData } from "./play.tsx";

import "../common/common.css";
import "./play.css";

async function startPlayground(source: string): Promise<void> {
  const page = document.getElementById("page");
  const data = JSON.parse(document.getElementById("data")?.textContent ?? "null") as PlayData | null;
  // A link pasted into the URL of an open page replaces its state. Of several, the last one wins.
  let latestStart = 0;
  const renderLink = async (hash: string): Promise<void> => {
    const currentStart = ++latestStart;
    const link = await readStateFromLink(hash);
    if (page === null || currentStart !== latestStart) return;
    render(<Playground key={currentStart} source={source} data={data ?? {}} link={link} />, page);
  };
  // Uses the event's URL: by now the page may have replaced the current one with its previous state.
  addEventListener("hashchange", ({ newURL }) => void renderLink(new URL(newURL).hash));
  await renderLink(location.hash);
}

if (typeof document === "undefined") {
  addEventListener("message", ({ data }: MessageEvent<WorkerRequest>) => {
    void priceFile(data, (message) => postMessage(message));
  });
} else void startPlayground(document.currentScript?.textContent ?? "");
