/**
 * Logos as data URIs of image types that can't contain scripts.
 *
 * @module
 */

/** The maximum length of a data URI in characters, which is about 190 kB of image data. */
export const LOGO_LENGTH_MAX = 256 * 1024;

/** The start of each image type in base64. */
const SIGNATURES: Readonly<Record<string, RegExp>> = {
  png: /^iVBORw0KGgo/,
  jpeg: /^\/9j\//,
  gif: /^R0lGOD[dl]h/,
  webp: /^UklGR[\w+/]{6}XRUJQ/,
};

/** The logo if it is a PNG, JPEG, GIF or WebP, by type and content, and not too long; otherwise undefined. */
export function parseLogo(value: string | undefined): string | undefined {
  if (value === undefined || value.length > LOGO_LENGTH_MAX) return undefined;
  const [, type = "", content = ""] =
    /^data:image\/(png|jpeg|gif|webp);base64,([A-Za-z0-9+/]+={0,2})$/.exec(value.trim()) ?? [];
  return SIGNATURES[type]?.test(content) === true ? `data:image/${type};base64,${content}` : undefined;
}
