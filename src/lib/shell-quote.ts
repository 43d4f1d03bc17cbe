/** A word of a POSIX shell: nothing in single quotes means anything, and a single quote is put between two of them. */
export const shellQuote = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
