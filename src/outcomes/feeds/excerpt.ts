// The first sentences of a text.
import { cutText } from '../extract/text.ts'

/** A sentence that ends earlier is too little to stand for the rest. */
const MIN_SHARE = 0.4
const SENTENCE_END = /[.!?…؟۔](?=["'”’»)\]]?\s)|[。！？]/g

/** Whole sentences where they fit, else whole words and an ellipsis; never more than `max` UTF-16 units. */
export function cutSentences(line: string, max: number): string | null {
  if (line === '') return null
  if (line.length <= max) return line
  const head = cutText(line, max - 1)
  let end = 0
  for (const match of head.matchAll(SENTENCE_END)) end = match.index + 1
  if (end >= max * MIN_SHARE) return head.slice(0, end)
  const space = head.lastIndexOf(' ')
  return `${(space >= max * MIN_SHARE ? head.slice(0, space) : head).trimEnd()}…`
}
