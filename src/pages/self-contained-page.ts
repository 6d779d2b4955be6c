/**
 * An HTML page in one file: its script and its style are in it, and a policy lets nothing else run or load.
 *
 * @module
 */
import { createHash } from "node:crypto";

import { escapeHtml } from "./escape-html.ts";

/** What a page is made of. */
export interface PageSource {
  readonly title: string;
  /** A classic script: it runs when the page and its data are there. */
  readonly script: string;
  readonly style: string;
}

/** The policy that a page has, for a server that says it in a header too. */
export function readPolicy(html: string): string {
  const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html) ?? [];
  if (policy === undefined) throw new TypeError("expected a page that has a policy");
  return `${policy}; frame-ancestors 'none'`;
}

/** Where data is put into a page. */
const DATA_PLACEHOLDER = "<!-- data -->";

/**
 * A page whose policy names its script and its style by their hashes: what is not in it is not run, and nothing is loaded
 * from anywhere. Workers may be made of the page's own text, pictures of data.
 */
export function buildSelfContainedPage({ title, script, style }: PageSource): string {
  const javaScript = requireEmbeddable(script, "script");
  const css = requireEmbeddable(style, "style");
  const policy = [
    "default-src 'none'",
    `script-src '${hashForPolicy(javaScript)}'`,
    `style-src '${hashForPolicy(css)}'`,
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
</head>
<body>
<div id="page"><noscript>This page shows its data with a script: switch on JavaScript to read it.</noscript></div>
${DATA_PLACEHOLDER}
<script>${javaScript}</script>
</body>
</html>
`;
}

/**
 * A page with its data in it, as an element that the browser does not run.
 *
 * @param html what {@link buildSelfContainedPage} made
 * @param json any JSON text
 */
export function embedData(html: string, json: string): string {
  const at = html.indexOf(DATA_PLACEHOLDER);
  if (at === -1) throw new TypeError("expected a page that has a place for data");
  const element = `<script type="application/json" id="data">${escapeJsonForHtml(json)}</script>`;
  return `${html.slice(0, at)}${element}${html.slice(at + DATA_PLACEHOLDER.length)}`;
}

/** JSON that no HTML parser sees an end or a comment in; it means the same. */
export function escapeJsonForHtml(json: string): string {
  return json.replaceAll("<", "\\u003c");
}

function hashForPolicy(text: string): string {
  return `sha256-${createHash("sha256").update(text, "utf8").digest("base64")}`;
}

/** A script or a style may not hold its own end, nor begin a comment that hides it: a bundler writes these otherwise. */
function requireEmbeddable(text: string, tag: "script" | "style"): string {
  const endTag = new RegExp(`</${tag}|<!--`, "i").exec(text);
  if (endTag !== null) throw new TypeError(`expected a ${tag} without ${endTag[0]}`);
  return text.trim();
}
