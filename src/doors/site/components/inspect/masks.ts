// Proofs and numbers in what was decoded out of a header: the report hides the header as a whole, so what is unfolded hides them itself.
import type { Mask } from './marks.ts'
import { type JsonNode, readJsonRanges } from '../../../../lib/json-ranges.ts'

const SECRET_NAMES =
  /^(?:signature|transaction|proof|token|cryptogram|number|cvc|secret|password|private_?key)$/i
/** Shorter ones are words. */
const MIN_CHARS = 3

/** @param words for a kind of secret */
export function masksIn(text: string, words: (kind: string) => string): Mask[] {
  const root = readJsonRanges(text)
  const masks: Mask[] = []
  const walk = (node: JsonNode) => {
    for (const [name, child] of node.children) {
      const isValue = child.kind === 'string' || child.kind === 'other'
      if (isValue && SECRET_NAMES.test(name) && child.to - child.from > MIN_CHARS)
        masks.push({ range: child, words: words(name.toLowerCase()) })
      walk(child)
    }
  }
  if (root) walk(root)
  return masks
}
