// Comma-separated values (RFC 4180) that a spreadsheet may open: a text that it would take for a formula is quoted with an apostrophe.

/** Rows end with `\r\n`, as RFC 4180 has it. */
export const csvRow = (fields: readonly (string | number | null | undefined)[]): string =>
  `${fields.map((field) => csvField(String(field ?? ''))).join(',')}\r\n`

/** One field: quoted where it must be, and a formula to nobody. */
export function csvField(text: string): string {
  // Amounts may be negative numbers; anything else that begins like a formula is a stranger's text. Spaces before it are no help,
  // and spreadsheets of East Asia take the wide forms too.
  const safe =
    /^\s*[=+@\t\r\uFF1D\uFF0B\uFF20\uFF0D-]/.test(text) && !/^-\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
