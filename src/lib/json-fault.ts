// Where a text stops being JSON. The words of the parser quote the text, which is whatever somebody named by mistake: a key file, too.

/** What the parser shows of a long text begins so many characters before the fault. */
const SHOWN_BEFORE = 10

/**
 * @param thrown by `JSON.parse(text)`
 * @returns `line 3, column 5`; undefined where the parser does not tell
 */
export function placeOfJsonFault(text: string, thrown: unknown): string | undefined {
  const at = thrown instanceof SyntaxError ? positionIn(thrown.message, text) : undefined
  if (at === undefined) return undefined
  const lines = text.slice(0, at).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
}

function positionIn(message: string, text: string): number | undefined {
  const [, position] = / at position (\d+)/.exec(message) ?? []
  if (position !== undefined) return Number(position)
  if (message === 'Unexpected end of JSON input') return text.length
  const [, token = '', cut, shown = ''] =
    /^Unexpected token '(.+?)', (\.\.\.)?"([\s\S]*)"(?:\.\.\.)? is not valid JSON$/u.exec(message) ?? []
  const first = text.indexOf(shown)
  if (shown === '' || first !== text.lastIndexOf(shown)) return undefined
  if (cut !== undefined) return first + SHOWN_BEFORE
  // A fault near the beginning: the first place of its character would do only where there is no other.
  const found = shown.indexOf(token)
  return found === shown.lastIndexOf(token) ? first + found : undefined
}
