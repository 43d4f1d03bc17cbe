// HTML as text with every block on lines of its own. The `textContent` of a DOM glues the last word of one block to the first
// of the next, which makes an extractor look worse than it is.
import { Parser } from 'htmlparser2'

const INLINE = new Set(
  'a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark q ruby s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
)
const UNREAD = new Set(['script', 'style', 'template', 'head'])

export function blockTextOf(html: string): string {
  let text = ''
  let unread = 0
  const parser = new Parser({
    onopentagname(name) {
      if (UNREAD.has(name)) unread++
      if (!INLINE.has(name)) text += '\n'
    },
    onclosetag(name) {
      if (UNREAD.has(name)) unread--
      if (!INLINE.has(name)) text += '\n'
    },
    ontext(piece) {
      if (unread === 0) text += piece
    },
  })
  parser.end(html)
  return text.replace(/[^\S\n]+/g, ' ').replace(/ ?\n[ \n]*/g, '\n')
}
