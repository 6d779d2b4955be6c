/** The pages of the package: HTML with embedded script, style and data, and a policy that forbids everything else. */
import { readFile } from "node:fs/promises";

import { sha256Base64 } from "../numbers/ids.ts";
import { escapeHtml } from "./printable.ts";

/** The titles of the pages by name. The sources of each are in a folder of `browser`, with `main.tsx` as entry. */
export const PAGE_TITLES = { play: "ratebook playground", report: "ratebook report" } as const;
export type PageName = keyof typeof PAGE_TITLES;

/** The file of a built page in `dist/pages`, relative to both `src` and `dist`. */
export function pageFile(name: PageName): URL {
  return new URL(`../../dist/pages/${name}.html`, import.meta.url);
}

/** Reads a built page. @throws as node:fs does, if the package is not built */
export async function readPage(name: PageName): Promise<string> {
  return readFile(pageFile(name), "utf8");
}

/** The parts of a page. */
interface PageSource {
  readonly title: string;
  /** A classic script, which runs after the page and its data are loaded. */
  readonly script: string;
  readonly style: string;
}

/** The content security policy of a page, to send as a header as well. */
export function readPolicy(html: string): string {
  const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html) ?? [];
  if (policy === undefined) throw new TypeError("expected a page that has a policy");
  return `${policy}; frame-ancestors 'none'`;
}

/** Shows an error that a page did not expect above its content, so that no page stays blank without a reason. */
const ERROR_SCRIPT = `for (const type of ["error", "unhandledrejection"])
  addEventListener(type, (event) => {
    const error = event.error ?? event.reason;
    if (error === undefined || document.getElementById("page-error") !== null) return;
    const box = document.createElement("p");
    box.id = "page-error";
    box.className = "panel bad";
    box.setAttribute("role", "alert");
    box.textContent = "This page has an error and may be incomplete: " + error + ". Reload the page. If the error is back, report it with this text.";
    document.body.prepend(box);
  });`;

/** The place of the data in a page. */
const DATA_PLACEHOLDER = "<!-- data -->";

/**
 * Builds a page whose policy allows only its script and style, by hash, and no loading. Workers can use the page's own
 * script, and images can be data URIs.
 */
export function buildSelfContainedPage({ title, script, style }: PageSource): string {
  const javaScript = requireEmbeddable(script, "script");
  const css = requireEmbeddable(style, "style");
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${sha256Base64(ERROR_SCRIPT)}' 'sha256-${sha256Base64(javaScript)}'`,
    `style-src 'sha256-${sha256Base64(css)}'`,
    "img-src data:",
    "worker-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${css}</style>
<script>${ERROR_SCRIPT}</script>
</head>
<body>
<div id="page"><noscript>This page needs JavaScript. Enable it to see the data.</noscript></div>
${DATA_PLACEHOLDER}
<script>${javaScript}</script>
</body>
</html>
`;
}

/**
 * Embeds data in a page, in an element that browsers don't execute.
 *
 * @param html from {@link buildSelfContainedPage}
 * @param json any JSON text
 */
export function embedData(html: string, json: string): string {
  const at = html.indexOf(DATA_PLACEHOLDER);
  if (at === -1) throw new TypeError("expected a page that has a place for data");
  const element = `<script type="application/json" id="data">${escapeJsonForHtml(json)}</script>`;
  return `${html.slice(0, at)}${element}${html.slice(at + DATA_PLACEHOLDER.length)}`;
}

/** Escapes JSON so that HTML parsers find no end tag or comment in it. Its value is unchanged. */
function escapeJsonForHtml(json: string): string {
  return json.replaceAll("<", "\\u003c");
}

/** Throws if a script or style contains its own end tag or starts a comment; bundlers escape these. */
function requireEmbeddable(text: string, tag: "script" | "style"): string {
  const endTag = new RegExp(`</${tag}|<!--`, "i").exec(text);
  if (endTag !== null) throw new TypeError(`expected a ${tag} without ${endTag[0]}`);
  return text.trim();
}

/** The bytes of data in a page, with the comma after it. */
export function countDataBytes(data: unknown): number {
  return Buffer.byteLength(escapeJsonForHtml(JSON.stringify(data))) + 1;
}

/** Room for data in a page: adds data of a size, and says whether it fits. After the first that does not, none does. */
export function createRoom(maxBytes: number): (bytes: number) => boolean {
  let bytesLeft = maxBytes;
  return (bytes) => {
    if (bytesLeft >= 0) bytesLeft -= bytes;
    return bytesLeft >= 0;
  };
}
