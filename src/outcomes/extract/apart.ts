// Tells spans that a style sheet sets apart: the name of a property and its value, a count beside another. Nothing stands between them in the
// page, and without a space `<span class="name">ISBN-10</span><span class="value">0544…</span>` is another number.
import { type Element, textOf } from './tree.ts'

/** What a part of more spans than this holds is words of a sentence, or letters that move. */
const MAX_SPANS = 4
const MAX_PIECES = 40
const NAME = /(?:^|[\s_-])(?:name|label|key|title|term|attr|prop(?:erty)?)(?:$|[\s_-])/i
const VALUE = /(?:^|[\s_-])(?:value|val|data|content|desc(?:ription)?)(?:$|[\s_-])/i
/** A word that a further one with a capital, or a number, is not part of. */
const ENDS_WORD = /(?:\p{Ll}{2}|:)$/u
const STARTS_WORD = /^[\p{Lu}\p{N}]/u

/** Whether a space belongs between this span and what is before it, although the page has none. */
export function isSetApart(element: Element): boolean {
  const { name, attributes, parent } = element
  const { class: className } = attributes
  if (name !== 'span' || className === undefined || !parent || parent.children.length < 2) return false
  if (parent.children.length > MAX_SPANS) return false
  const before = parent.children[parent.children.indexOf(element) - 1]
  if (before === undefined || typeof before === 'string' || before.name !== 'span') return false
  const classBefore = before.attributes['class']
  if (classBefore === undefined || classBefore === className || parent.children.some(isWords)) return false
  if (NAME.test(classBefore) && VALUE.test(className)) return true
  return ENDS_WORD.test(textOf(before, '', MAX_PIECES)) && STARTS_WORD.test(textOf(element, '', MAX_PIECES))
}

const isWords = (child: Element | string) => typeof child === 'string' && child.trim() !== ''
