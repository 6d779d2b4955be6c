/**
 * The playground in a browser. The same script is the worker that prices files, where there is no document.
 *
 * @module
 */
import { render } from "preact";

import { embeddedData } from "../look/data.ts";
import { type FileAsked, priceFile } from "./file-worker.ts";
import { stateInLink } from "./link.ts";
import { Playground, type PlayData } from "./play.tsx";

import "../look/look.css";
import "./play.css";

async function open(source: string): Promise<void> {
  const page = document.getElementById("page");
  const data = embeddedData() as PlayData | null;
  // A link that is put into the address of an open page is a new beginning, and the latest counts.
  let begun = 0;
  const begin = async (hash: string): Promise<void> => {
    const turn = ++begun;
    const link = await stateInLink(hash);
    if (page === null || turn !== begun) return;
    render(<Playground key={turn} source={source} data={data ?? {}} link={link} />, page);
  };
  // The address itself may hold the state of the page before again by now: the page keeps what it shows there.
  addEventListener("hashchange", ({ newURL }) => void begin(new URL(newURL).hash));
  await begin(location.hash);
}

if (typeof document === "undefined") {
  addEventListener("message", ({ data }: MessageEvent<FileAsked>) => {
    void priceFile(data, (said) => postMessage(said));
  });
} else void open(document.currentScript?.textContent ?? "");
