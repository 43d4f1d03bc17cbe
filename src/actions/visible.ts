// Text of strangers, made safe to read: what is not seen, or moves what is seen, is written out.

/**
 * Control characters, direction marks, invisible and unassigned characters, odd spaces; and the bracket that the escapes
 * are written with, so that none can be forged.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u27e8\u27e9]|(?! )\p{Zs}/gu

/** `a\u202eb` -> `a⟨U+202E⟩b`. Line ends are written out too. */
export function showText(text: string): string {
  return text.replaceAll(
    HIDDEN,
    (char) => `⟨U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`,
  )
}

/** Each line behind a mark, so that no line of it passes for one of its surroundings. A tab is left as it is. */
export function showLines(text: string, mark: string): string {
  return text
    .split('\n')
    .map((line) => `${mark}${line.split('\t').map(showText).join('\t')}`)
    .join('\n')
}
