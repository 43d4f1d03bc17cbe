// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours, each part edited once.

/** The distance of two short texts, or `limit + 1` as soon as it is known to be more. */
export function distanceWithin(limit: number, a: string, b: string): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let [before, above] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min(at(above, j) + 1, at(row, j - 1) + 1, at(above, j - 1) + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, at(before, j - 2) + 1)
      row.push(best)
      if (best < least) least = best
    }
    if (least > limit) return limit + 1
    ;[before, above] = [above, row]
  }
  return at(above, b.length)
}

/** An element outside of a row is too far away to count. */
const at = (row: readonly number[], index: number) => row[index] ?? Infinity

/** Bit set of the letters that occur in a text. */
export function lettersOf(text: string): number {
  let letters = 0
  for (let i = 0; i < text.length; i++) letters |= 1 << (text.charCodeAt(i) & 31)
  return letters
}

/** Every edit brings at most one letter in and takes one out: cheap to ask before counting edits. */
export function isBeyond(limit: number, a: number, b: number): boolean {
  let left = 2 * limit
  for (let rest = a ^ b; rest !== 0; rest &= rest - 1) if (left-- === 0) return true
  return false
}

/** More slips than these make another word; and whoever sends the word decides how long it is. */
const MAX_SLIPS = 4

/** The known word that a misspelt one was meant for: two slips in a short word, every fourth character of a longer one. */
export function nearestTo(wanted: string, known: readonly string[]): string | undefined {
  const limit = Math.min(MAX_SLIPS, Math.max(2, Math.floor(wanted.length / 4)))
  const letters = lettersOf(wanted)
  const [nearest] = known
    .filter((word) => !isBeyond(limit, letters, lettersOf(word)))
    .map((word) => ({ word, distance: distanceWithin(limit, wanted, word) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance)
  return nearest?.word
}
