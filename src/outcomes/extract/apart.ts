// Tells words that a style sheet sets apart: the name of a property and its value, a player and his points, a link beside a link. Nothing stands
// between them in the page, and without a space `<span class="name">ISBN-10</span><span class="value">0544…</span>` is another number.
import { type Element, textOf } from './tree.ts'

/** A part of more pieces than this holds words of a sentence, or letters that move. */
const MAX_PIECES = 4
const MAX_READ_PIECES = 40
const NAME = /(?:^|[\s_-])(?:name|label|key|title|term|attr|prop(?:erty)?)(?:$|[\s_-])/i
const VALUE = /(?:^|[\s_-])(?:value|val|data|content|desc(?:ription)?)(?:$|[\s_-])/i
/** A word that a further one with a capital, or a number, is not part of. */
const ENDS_WORD = /(?:\p{Ll}{2}|:)$/u
const STARTS_WORD = /^[\p{Lu}\p{N}]/u

/** Whether a space belongs between this span or link and what is before it, although the page has none. */
export function isSetApart(element: Element): boolean {
  const { parent } = element
  if (!isPiece(element) || !parent || parent.children.length < 2 || parent.children.length > MAX_PIECES)
    return false
  const before = parent.children[parent.children.indexOf(element) - 1]
  if (before === undefined || typeof before === 'string' || !isPiece(before)) return false
  if (parent.children.some(isWords)) return false
  const classBefore = before.attributes['class']
  const className = element.attributes['class']
  if (before.name === 'span' && element.name === 'span' && classBefore === className) return false
  if (NAME.test(classBefore ?? '') && VALUE.test(className ?? '')) return true
  return (
    ENDS_WORD.test(textOf(before, '', MAX_READ_PIECES)) &&
    STARTS_WORD.test(textOf(element, '', MAX_READ_PIECES))
  )
}

/** A button is drawn as one; a span without a class is nothing that a style sheet knows. */
const isPiece = ({ name, attributes }: Element) =>
  name === 'a' || name === 'button' || (name === 'span' && attributes['class'] !== undefined)

const isWords = (child: Element | string) => typeof child === 'string' && child.trim() !== ''
