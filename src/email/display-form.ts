// `Name <local@domain>`, or the brackets alone, as a mail program shows one address (RFC 5322, 3.4: name-addr). The name may
// be words and quoted strings; a comment, a list, a group or a second pair of brackets makes it something else. So does a
// dot outside of quotes, which the grammar calls obsolete, as it does what is refused of that kind in addresses.

export interface DisplayForm {
  /** The name without quotes, escapes and the blank that parts it from the brackets; empty where there is none. */
  readonly name: string
  /** The text in the brackets, which is not looked at yet. */
  readonly address: string
  /** The index where the address begins. */
  readonly at: number
}

/** Atoms of RFC 5322, and what RFC 6532 adds to them: UTF-8. */
const WORD = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\u{10FFFF}-]$/u
const HALF_PAIR = /^\p{Cs}$/u
const BLANK = /^[ \t]$/
const isQuotable = (character: string) => (character >= ' ' && character !== '\u007F') || character === '\t'

/** @param text ends with `>`. Linear. */
export function readDisplayForm(text: string): DisplayForm | undefined {
  let isQuoted = false
  let isEscaped = false
  let name = ''
  let at = 0
  for (const character of text) {
    if (HALF_PAIR.test(character)) return undefined
    if (isQuoted) {
      if (!isQuotable(character)) return undefined
      if (!isEscaped && character === '"') isQuoted = false
      else if (!isEscaped && character === '\\') isEscaped = true
      else {
        name += character
        isEscaped = false
      }
    } else if (character === '<')
      return { name: name.replace(/ $/, ''), address: text.slice(at + 1, -1), at: at + 1 }
    else if (character === '"') isQuoted = true
    else if (!WORD.test(character) && !(BLANK.test(character) && at > 0)) return undefined
    else name += character === '\t' ? ' ' : character
    at += character.length
  }
  return undefined
}
