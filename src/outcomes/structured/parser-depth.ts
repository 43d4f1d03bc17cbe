// A bound on what the parser itself remembers of nested elements. It fills an array from the front, so every open element
// costs as much as all that are open: 50,000 of them take most of a second, 400,000 half a minute.
import type { Parser } from 'htmlparser2'

/** Above what pages have (they stay below 100) and what later walks go down to. */
const MAX_OPEN = 512

/**
 * Has to be called for every opened element. The outermost ones are forgotten: they are closed at the end of the document
 * instead of by their end tags. Relies on how htmlparser2 keeps them; a test notices when that changes.
 */
export function boundDepth(parser: Parser): void {
  const { stack, foreignContext } = parser as unknown as Record<'stack' | 'foreignContext', unknown[]>
  if (stack.length > MAX_OPEN) stack.length = MAX_OPEN
  if (foreignContext.length > MAX_OPEN + 1) foreignContext.length = MAX_OPEN + 1
}
