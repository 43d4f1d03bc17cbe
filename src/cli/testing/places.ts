// Places of a report as lines and columns of the file that the sample stands in.
import { nodeAt, type Range, readJsonRanges } from '../../lib/json-ranges.ts'

/** Counted from 1; columns in UTF-16 code units, as editors and SARIF count them. The end is behind the last character. */
export interface Region {
  readonly line: number
  readonly column: number
  readonly endLine: number
  readonly endColumn: number
}

/** @param place JSON Pointer of a report; null: of the whole. A place that is not in the file is that of what holds it */
export type Locate = (place: string | null) => Region

/** Reads the text once for all its places. Never throws. */
export function locateIn(text: string): Locate {
  const root = readJsonRanges(text)
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  const regionOf = ({ from, to }: Range): Region => {
    const first = lineAt(starts, from)
    const last = lineAt(starts, to)
    return {
      line: first + 1,
      column: from - (starts[first] ?? 0) + 1,
      endLine: last + 1,
      endColumn: to - (starts[last] ?? 0) + 1,
    }
  }
  if (!root) return () => ({ line: 1, column: 1, endLine: 1, endColumn: 2 })
  return (place) => {
    for (let pointer = place ?? ''; pointer !== ''; pointer = outer(pointer)) {
      const node = nodeAt(root, pointer)
      if (node) return regionOf(node.name ?? (node.children.size > 0 ? opening(node) : node))
    }
    return regionOf(opening(root))
  }
}

const opening = ({ from }: Range): Range => ({ from, to: from + 1 })

/** Behind `#` is a pointer into what the value encodes. */
const outer = (pointer: string) =>
  pointer.slice(0, Math.max(pointer.lastIndexOf('/'), pointer.lastIndexOf('#'), 0))

/** @returns index of the line that holds the offset */
function lineAt(starts: readonly number[], offset: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}
