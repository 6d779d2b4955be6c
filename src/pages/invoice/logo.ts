/**
 * Logos as data URIs: of a picture that a browser draws and does not run.
 *
 * @module
 */

/** The longest data URI that is taken, in characters: about 190 kB of a picture. */
export const LOGO_LENGTH_MAX = 256 * 1024;

/** How the content of each type of picture begins, in base64. */
const SIGNATURES: Readonly<Record<string, RegExp>> = {
  png: /^iVBORw0KGgo/,
  jpeg: /^\/9j\//,
  gif: /^R0lGOD[dl]h/,
  webp: /^UklGR[\w+/]{6}XRUJQ/,
};

/** A logo that may be shown: a PNG, JPEG, GIF or WebP by its type and its content, not too long; else undefined. */
export function parseLogo(value: string | undefined): string | undefined {
  if (value === undefined || value.length > LOGO_LENGTH_MAX) return undefined;
  const [, type = "", content = ""] =
    /^data:image\/(png|jpeg|gif|webp);base64,([A-Za-z0-9+/]+={0,2})$/.exec(value.trim()) ?? [];
  return SIGNATURES[type]?.test(content) === true ? `data:image/${type};base64,${content}` : undefined;
}
