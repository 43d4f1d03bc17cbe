// Rows that replicas look at in turn, by when the last one did, which it wrote by its own clock.
import { all, type Command } from '../command.ts'
import type { Millis } from '../model.ts'

/** A look that is written down as later than this, from whoever asks, was by a clock that goes ahead: nobody waits until it has come. */
export const AHEAD_MS = 15 * 60_000

/**
 * @param select a statement with the condition that it is given, for the rows that nobody looked at for the longest; its `$2` is their number
 * @returns asks for those without a look since `before`, which is not long before now; with some that are due only by the rule above
 */
export function longestUnseen<R>(select: (isDue: string) => string) {
  const past = select('looked_at < $1')
  const ahead = select('looked_at > $1')
  return function* ({ before, limit }: { before: Millis; limit: number }): Command<readonly R[]> {
    const rows = yield* all<R>(past, before, limit)
    if (rows.length >= limit) return rows
    const latest = Math.min(before + AHEAD_MS, Number.MAX_SAFE_INTEGER)
    return [...rows, ...(yield* all<R>(ahead, latest, limit - rows.length))]
  }
}
