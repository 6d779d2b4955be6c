/**
 * The look of all pages: one scale of text sizes, one of spaces and one set of colors, as CSS custom properties. On
 * screens, colors follow the reader's setting, light or dark; in print they are the light ones.
 *
 * `more` and `less` color amounts that go up and down, which is neither good nor bad. `s1` to `s10` color series in
 * charts, `other` what is left of them.
 */
const LIGHT = {
  page: "#fbfbfa",
  surface: "#ffffff",
  sunken: "#f4f4f2",
  line: "#e4e4e0",
  "line-strong": "#cfcfc9",
  ink: "#1b1b18",
  "ink-2": "#5c5c55",
  "ink-3": "#6b6b63",
  accent: "#3451b2",
  "accent-soft": "#eaeefb",
  mark: "#fff3c4",
  "mark-ink": "#6b4e00",
  more: "#8a4b08",
  less: "#0b5c7a",
  danger: "#b42318",
  "danger-soft": "#fdecea",
  s1: "#3451b2",
  s2: "#d97706",
  s3: "#0f766e",
  s4: "#a21caf",
  s5: "#64748b",
  s6: "#65a30d",
  s7: "#be123c",
  s8: "#0284c7",
  s9: "#7c3aed",
  s10: "#92400e",
  other: "#a8a29e",
} as const;

/** The name of a color. */
export type ColorToken = keyof typeof LIGHT;

const DARK: Readonly<Record<ColorToken, string>> = {
  page: "#141413",
  surface: "#1c1c1a",
  sunken: "#232320",
  line: "#32322e",
  "line-strong": "#47473f",
  ink: "#f1f1ec",
  "ink-2": "#b3b3a9",
  "ink-3": "#98988e",
  accent: "#9db2ff",
  "accent-soft": "#25294a",
  mark: "#4a3d0c",
  "mark-ink": "#ffe28a",
  more: "#f0b26b",
  less: "#7fd1ea",
  danger: "#ff9d92",
  "danger-soft": "#3d1f1c",
  s1: "#8ea6ff",
  s2: "#fbbf24",
  s3: "#5eead4",
  s4: "#e879f9",
  s5: "#94a3b8",
  s6: "#bef264",
  s7: "#fda4af",
  s8: "#7dd3fc",
  s9: "#c4b5fd",
  s10: "#d6a77a",
  other: "#78716c",
};

/** The fonts of pages and drawings. None is loaded. */
export const FONT = 'Inter, system-ui, "Segoe UI", Roboto, sans-serif';

const SERIES = Object.keys(LIGHT).filter((name) => /^s\d/.test(name));

/** The number of series with a color of their own. */
export const SERIES_COLORS = SERIES.length;

/** The styles that set colors on elements, for light and dark. */
export function buildColorStyle(selector: string, names = Object.keys(LIGHT) as readonly ColorToken[]): string {
  const declare = (colors: Readonly<Record<ColorToken, string>>): string =>
    names.map((name) => `--${name}: ${colors[name]};`).join(" ");
  return `${selector} { ${declare(LIGHT)} }
@media screen and (prefers-color-scheme: dark) { ${selector} { ${declare(DARK)} } }`;
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
