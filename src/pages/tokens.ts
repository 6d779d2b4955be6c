/**
 * The look of all pages: one scale of text sizes, one of spaces and one set of colors, as CSS custom properties. On
 * screens, colors follow the reader's setting, light or dark; in print they are the light ones.
 *
 * `more` and `less` color amounts that go up and down, which is neither good nor bad. `s1` to `s10` color series in
 * charts, `other` what is left of them. Each is for light screens and for dark ones.
 */
const COLORS = {
  page: ["#fbfbfa", "#141413"],
  surface: ["#ffffff", "#1c1c1a"],
  sunken: ["#f4f4f2", "#232320"],
  line: ["#e4e4e0", "#32322e"],
  "line-strong": ["#cfcfc9", "#47473f"],
  ink: ["#1b1b18", "#f1f1ec"],
  "ink-2": ["#5c5c55", "#b3b3a9"],
  "ink-3": ["#6b6b63", "#98988e"],
  accent: ["#3451b2", "#9db2ff"],
  "accent-soft": ["#eaeefb", "#25294a"],
  mark: ["#fff3c4", "#4a3d0c"],
  "mark-ink": ["#6b4e00", "#ffe28a"],
  more: ["#8a4b08", "#f0b26b"],
  less: ["#0b5c7a", "#7fd1ea"],
  danger: ["#b42318", "#ff9d92"],
  "danger-soft": ["#fdecea", "#3d1f1c"],
  s1: ["#3451b2", "#8ea6ff"],
  s2: ["#d97706", "#fbbf24"],
  s3: ["#0f766e", "#5eead4"],
  s4: ["#a21caf", "#e879f9"],
  s5: ["#64748b", "#94a3b8"],
  s6: ["#65a30d", "#bef264"],
  s7: ["#be123c", "#fda4af"],
  s8: ["#0284c7", "#7dd3fc"],
  s9: ["#7c3aed", "#c4b5fd"],
  s10: ["#92400e", "#d6a77a"],
  other: ["#a8a29e", "#78716c"],
} as const satisfies Readonly<Record<string, readonly [light: string, dark: string]>>;

/** The name of a color. */
export type ColorToken = keyof typeof COLORS;

/** The fonts of pages and drawings. None is loaded. */
export const FONT = 'Inter, system-ui, "Segoe UI", Roboto, sans-serif';

const SERIES = Object.keys(COLORS).filter((name) => /^s\d/.test(name));

/** The number of series with a color of their own. */
export const SERIES_COLORS = SERIES.length;

/** The styles that set colors on elements, for light and dark. */
export function buildColorStyle(selector: string, names = Object.keys(COLORS) as readonly ColorToken[]): string {
  const declare = (scheme: 0 | 1): string => names.map((name) => `--${name}: ${COLORS[name][scheme]};`).join(" ");
  return `${selector} { ${declare(0)} }
@media screen and (prefers-color-scheme: dark) { ${selector} { ${declare(1)} } }`;
}

/** The styles of all tokens, which pages have before their own. */
export function buildPageTokens(): string {
  return `:root {
  --font: ${FONT};
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, monospace;
  --text-xs: 0.75rem; --text-s: 0.8125rem; --text-m: 0.875rem; --text-l: 1rem; --text-xl: 1.25rem; --text-2xl: 1.875rem;
  --space-1: 0.25rem; --space-2: 0.5rem; --space-3: 0.75rem; --space-4: 1rem; --space-5: 1.5rem; --space-6: 2rem;
  --radius: 8px;
}
@media screen { :root { color-scheme: light dark; } }
${buildColorStyle(":root")}
`;
}

/** The colors of the series in charts. */
export function buildSeriesStyle(): string {
  return ["other", ...SERIES]
    .map((name) => `.series-${name.replace("s", "")} { --series: var(--${name}); }\n`)
    .join("");
}
