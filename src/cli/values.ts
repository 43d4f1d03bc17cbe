// Values as commands print them: in one line, with nothing in it that a terminal would act on.
export type Row = Readonly<Record<string, unknown>>

/** Labels come from strangers: nothing in them may move the cursor, recolour the terminal or reverse the text. */
const harmless = (text: string) =>
  text.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, '?')

/** A value in one line, with nothing in it that a terminal would act on. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(formatValue).join(' ')
  if (typeof value === 'object') return harmless(JSON.stringify(value))
  return harmless(String(value)) || '-'
}
