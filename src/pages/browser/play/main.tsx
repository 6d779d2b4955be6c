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
  const found = await stateInLink(location.hash);
  const data = embeddedData() as PlayData | null;
  if (page !== null) render(<Playground source={source} data={data ?? {}} link={found} />, page);
}

if (typeof document === "undefined") {
  addEventListener("message", ({ data }: MessageEvent<FileAsked>) => {
    void priceFile(data, (said) => postMessage(said));
  });
} else void open(document.currentScript?.textContent ?? "");
