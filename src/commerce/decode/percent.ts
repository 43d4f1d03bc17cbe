// Text with `%` escapes, as a server that is given it may read it.

/** Undefined where nothing is escaped. */
export function unescape(text: string): string | undefined {
  if (!text.includes('%') || !/%[\dA-Fa-f]{2}/.test(text)) return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    // Escapes that are no UTF-8 are left as they are; the rest is read all the same.
    return text.replaceAll(/%([2-7][\dA-Fa-f])/g, (_escape, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  }
}
