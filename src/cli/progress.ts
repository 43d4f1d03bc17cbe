// How far long work is, on stderr: one line that is drawn anew on a terminal, a line now and then elsewhere, and nothing with --json, whose
// stderr is for the problem alone.
import { terminalLine } from './table.ts'

export interface Progress {
  /** @param total undefined where nobody knows it */
  at(done: number, total?: number | null): void
  /** Clears the line; what comes next begins at its place. */
  end(): void
}

/** So often a line is drawn anew, and so often one is printed where there is no terminal. */
const DRAWN_MS = 100
const PRINTED_MS = 10_000

interface Out {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
}

/**
 * @param doing what is counted, before the number: `payments written`
 * @param out where it is said, and the clock that it goes by
 */
export function startProgress(
  doing: string,
  { json = false }: { readonly json?: boolean | undefined } = {},
  { out = process.stderr, now = Date.now }: { readonly out?: Out; readonly now?: () => number } = {},
): Progress {
  if (json) return { at: () => {}, end: () => {} }
  const isTerminal = out.isTTY === true
  let shownAt = isTerminal ? Number.NEGATIVE_INFINITY : now()
  let isDrawn = false
  return {
    at(done, total) {
      const isLast = done === total
      if (now() - shownAt < (isTerminal ? DRAWN_MS : PRINTED_MS) && !(isTerminal && isLast)) return
      shownAt = now()
      const words = `${doing}: ${done}${total === undefined || total === null ? '' : ` of ${total}`}`
      isDrawn = isTerminal
      out.write(isTerminal ? `\r${terminalLine(words, out.columns)}\u001b[K` : `${words}\n`)
    },
    end() {
      if (isDrawn) out.write('\r\u001b[K')
      isDrawn = false
    },
  }
}
