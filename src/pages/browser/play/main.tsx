/**
 * The playground in a browser. The same script is the worker that prices files, where there is no document.
 *
 * @module
 */
import { render } from "preact";

import { readEmbeddedData } from "../common/embedded-data.ts";
import { type WorkerRequest, priceFile } from "./file-worker.ts";
import { readStateFromLink } from "./link.ts";
import { Playground, type PlayData } from "./play.tsx";

import "../common/common.css";
import "./play.css";

async function startPlayground(source: string): Promise<void> {
  const page = document.getElementById("page");
  const data = readEmbeddedData() as PlayData | null;
  // A link that is put into the address of an open page is a new beginning, and the latest counts.
  let latestStart = 0;
  const renderLink = async (hash: string): Promise<void> => {
    const thisStart = ++latestStart;
    const link = await readStateFromLink(hash);
    if (page === null || thisStart !== latestStart) return;
    render(<Playground key={thisStart} source={source} data={data ?? {}} link={link} />, page);
  };
  // The address itself may hold the state of the page before again by now: the page keeps what it shows there.
  addEventListener("hashchange", ({ newURL }) => void renderLink(new URL(newURL).hash));
  await renderLink(location.hash);
}

if (typeof document === "undefined") {
  addEventListener("message", ({ data }: MessageEvent<WorkerRequest>) => {
    void priceFile(data, (message) => postMessage(message));
  });
} else void startPlayground(document.currentScript?.textContent ?? "");
