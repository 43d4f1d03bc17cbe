// Reads preformatted text: its lines as they stand, and the language that highlighters note beside it.
import { cleanText } from './text.ts'
import type { Element } from './tree.ts'

const LANGUAGE =
  /(?:^|\s)(?:language|lang|highlight-source|brush:?\s?|sourceCode\s)-?([a-z][\w+#.-]{0,24})(?=$|[\s;])/i
/** As generators of documentation write it on the box around, however deep the code lies in it. */
const BOX_LANGUAGE =
  /(?:^|\s)(?:highlight-([a-z][\w+#.-]{0,24})\s+notranslate|language-([a-z][\w+#.-]{0,24})\s+highlight)(?=$|\s)/i
const MAX_BOX_LEVELS = 8
const NO_LANGUAGE = new Set(['none', 'plaintext', 'text', 'default'])
const ALIASES: Readonly<Record<string, string>> = { python3: 'python', ipython3: 'python', pycon3: 'pycon' }
const LINE_NUMBERS = /(?:^|[\s_-])(?:gutter|line-?nos?|line-?numbers?|linenodiv)(?:$|[\s_-])/i
const MAX_CODE_LANGUAGE = 25

/** Without the line break behind the opening tag and without what is blank at the end. */
export function codeText(pre: Element): string {
  const pieces: string[] = []
  const stack: (Element | string)[] = [pre]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === 'string') pieces.push(node)
    else if (node.name === 'br') pieces.push('\n')
    else for (const child of node.children.toReversed()) stack.push(child)
  }
  return cleanText(pieces.join('')).replace(/^\n/, '').trimEnd()
}

/** A column of numbers beside the lines. */
export const isLineNumbers = (pre: Element, text: string): boolean =>
  /^[\d\s]+$/.test(text) && nearby(pre, 2).some(({ attributes }) => LINE_NUMBERS.test(namesOf(attributes)))

/** As written by the element itself, the code in it or the box around it. */
export function codeLanguage(pre: Element): string | undefined {
  const inside = pre.children.find((child) => typeof child !== 'string' && child.name === 'code')
  for (const { attributes } of [
    ...(inside && typeof inside !== 'string' ? [inside] : []),
    ...nearby(pre, 2),
  ]) {
    const stated =
      attributes['data-lang'] ?? attributes['data-language'] ?? LANGUAGE.exec(namesOf(attributes))?.[1]
    const language = stated?.trim().toLowerCase()
    if (language !== undefined && language.length <= MAX_CODE_LANGUAGE && /^[a-z][\w+#.-]*$/.test(language))
      return nameLanguage(language)
  }
  for (const { attributes } of nearby(pre, MAX_BOX_LEVELS)) {
    const box = BOX_LANGUAGE.exec(namesOf(attributes))
    if (box) return nameLanguage((box[1] ?? box[2] ?? '').toLowerCase())
  }
  return undefined
}

const nameLanguage = (language: string): string | undefined =>
  NO_LANGUAGE.has(language) ? undefined : Object.hasOwn(ALIASES, language) ? ALIASES[language] : language

const namesOf = (attributes: Element['attributes']) => (attributes['class'] ?? '').slice(0, 300)

/** The element and those around it. */
function nearby(element: Element, levels: number): Element[] {
  const found = [element]
  for (let at = element.parent; at && found.length <= levels; at = at.parent) found.push(at)
  return found
}
