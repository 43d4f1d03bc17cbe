// What changed between two texts, line by line.

export interface DiffLine {
  readonly is: 'same' | 'gone' | 'new'
  readonly text: string
}

/** Lines beyond this are compared as they stand: the table of a longest common subsequence grows with the square. */
const MOST_COMPARED = 600

/** The lines of both texts in one list: those that went before those that came in their place. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const old = linesOf(before)
  const next = linesOf(after)
  let start = 0
  while (start < old.length && start < next.length && old[start] === next[start]) start++
  let end = 0
  while (
    end < old.length - start &&
    end < next.length - start &&
    old[old.length - 1 - end] === next[next.length - 1 - end]
  )
    end++
  return [
    ...as('same', old.slice(0, start)),
    ...between(old.slice(start, old.length - end), next.slice(start, next.length - end)),
    ...as('same', old.slice(old.length - end)),
  ]
}

const linesOf = (text: string) => text.replace(/\n$/, '').split('\n')
const as = (is: DiffLine['is'], lines: readonly string[]) => lines.map((text) => ({ is, text }))

function between(old: readonly string[], next: readonly string[]): DiffLine[] {
  if (old.length > MOST_COMPARED || next.length > MOST_COMPARED)
    return [...as('gone', old), ...as('new', next)]
  const width = next.length + 1
  /** Length of the longest common subsequence of what is behind each pair of places. */
  const common = new Uint32Array((old.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = next.length - 1; j >= 0; j--)
      common[i * width + j] = old[i] === next[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: DiffLine[] = []
  let j = 0
  for (const [i, text] of old.entries()) {
    while (j < next.length && text !== next[j] && at(i, j + 1) > at(i + 1, j))
      lines.push(...as('new', next.slice(j, ++j)))
    if (text === next[j]) {
      lines.push({ is: 'same', text })
      j++
    } else lines.push({ is: 'gone', text })
  }
  return [...lines, ...as('new', next.slice(j))]
}
