// Keeps what a block stands in while a page is read: quotes, call-outs and lists, as Markdown has to write them again.
import { attribute, type Element } from './tree.ts'

/** What a block stands in. */
export interface Frame {
  readonly quotes: number
  /** Of those, the ones around the outermost list. */
  readonly outerQuotes: number
  /** Columns of the list items around it. */
  readonly inset: number
  /** The first block of a quote: it does not go on with the one before. */
  readonly opensQuote: boolean
  /** Of the first block of a call-out: what kind it is. */
  readonly callOut: string | undefined
  readonly role: 'term' | 'definition' | 'summary' | undefined
}

/** A list item that waits for its first text. */
export interface Item {
  readonly depth: number
  readonly ordinal: number | null
  readonly inset: number
  /** Undefined where it is no task. */
  readonly isDone: boolean | undefined
}

export interface Frames {
  enter(element: Element): void
  leave(element: Element): void
  /** The item whose first text comes now. Taken once. */
  takeItem(): Item | undefined
  /** The box of a task was met. */
  setTask(isDone: boolean): void
  frame(): Frame
  readonly inQuote: boolean
}

const MAX_LIST_DEPTH = 8
const MAX_QUOTES = 8
/** One for nearly all blocks. */
const OUTSIDE: Frame = Object.freeze({
  quotes: 0,
  outerQuotes: 0,
  inset: 0,
  opensQuote: false,
  callOut: undefined,
  role: undefined,
})

const CALL_OUT = /(?:^|[\s_-])(?:admonition(?:block)?|call-?out|markdown-alert)(?:$|[\s_-])/i
/** Boxes of facts beside a text, which are a part of it. */
const FACTS = /(?:^|[\s_-])(?:info|fact)s?[_-]?box(?:$|[\s_-])/i
/** The parts of a call-out: its head, its text. */
const CALL_OUT_PART =
  /(?:admonition|call-?out|alert)[_-]{0,2}(?:title|head(?:er|ing)?|icon|content|body|text|inner|wrapper)(?:$|[\s_-])/i
const KINDS =
  /(?:^|[\s_-])(note|tip|hint|info|important|warning|caution|danger|attention|error|success|example|seealso)(?:$|[\s_-])/i

/** The kind of a call-out in capitals; undefined for anything else. */
export function callOutOf({ name, attributes }: Element): string | undefined {
  const names = `${attributes['class'] ?? ''} ${attributes['role'] ?? ''}`
  if (names.length < 4 || names.length > 300) return undefined
  const kind = KINDS.exec(names)?.[1]
  const isCallOut =
    CALL_OUT.test(names) ||
    (name === 'aside' && FACTS.test(names)) ||
    (kind !== undefined && (name === 'aside' || attributes['role'] === 'note'))
  return isCallOut &&
    !CALL_OUT_PART.test(names) &&
    (name === 'div' || name === 'aside' || name === 'section' || name === 'blockquote')
    ? (kind ?? 'note').toUpperCase()
    : undefined
}

/** Nothing is entered yet. */
export function createFrames(): Frames {
  const lists: { ordinal: number | null; step: number }[] = []
  const quotes: { readonly element: Element; readonly callOut: string | undefined; isOpened: boolean }[] = []
  const roles: NonNullable<Frame['role']>[] = []
  const insets: number[] = []
  let outerQuotes = 0
  let inset = 0
  let item: Item | undefined

  return {
    enter(element) {
      const { name, attributes } = element
      const callOut = callOutOf(element)
      if (callOut !== undefined || name === 'blockquote') quotes.push({ element, callOut, isOpened: false })
      if (name === 'ul' || name === 'ol') {
        const isReversed = attribute(attributes, 'reversed') !== undefined
        const start = readNumber(attribute(attributes, 'start')) ?? (isReversed ? countItems(element) : 1)
        lists.push({ ordinal: name === 'ol' ? start : null, step: isReversed ? -1 : 1 })
      } else if (name === 'li') {
        const list = lists.at(-1)
        const ordinal =
          list?.ordinal == null ? null : (readNumber(attribute(attributes, 'value')) ?? list.ordinal)
        if (list && ordinal !== null) list.ordinal = ordinal + list.step
        insets.push(inset)
        if (insets.length === 1) outerQuotes = quotes.length
        // An item that begins with a list has no text of its own to stand under.
        if (item) inset = item.inset
        item = {
          depth: Math.min(Math.max(lists.length - 1, 0), MAX_LIST_DEPTH),
          ordinal,
          inset,
          isDone: undefined,
        }
        if (insets.length <= MAX_LIST_DEPTH) inset += ordinal === null ? 2 : String(ordinal).length + 2
      } else if (name === 'dt') roles.push('term')
      else if (name === 'dd') roles.push('definition')
      else if (name === 'summary') roles.push('summary')
    },
    leave(element) {
      const { name } = element
      if (quotes.at(-1)?.element === element) quotes.pop()
      if (name === 'ul' || name === 'ol') lists.pop()
      else if (name === 'li') {
        item = undefined
        inset = insets.pop() ?? 0
        if (insets.length === 0) outerQuotes = 0
      } else if (name === 'dt' || name === 'dd' || name === 'summary') roles.pop()
    },
    takeItem() {
      const taken = item
      item = undefined
      return taken
    },
    setTask(isDone) {
      if (item) item = { ...item, isDone }
    },
    frame() {
      const role = roles.at(-1)
      if (quotes.length === 0 && inset === 0 && role === undefined) return OUTSIDE
      const last = quotes.at(-1)
      const opensQuote = last?.isOpened === false
      if (last) last.isOpened = true
      return {
        quotes: Math.min(quotes.length, MAX_QUOTES),
        outerQuotes: Math.min(inset > 0 ? outerQuotes : quotes.length, MAX_QUOTES),
        inset,
        opensQuote,
        callOut: opensQuote ? last?.callOut : undefined,
        role,
      }
    },
    get inQuote() {
      return quotes.length > 0
    },
  }
}

const readNumber = (written: string | undefined): number | undefined =>
  written !== undefined && /^\s*\d{1,9}\s*$/.test(written) ? Number(written) : undefined

const countItems = ({ children }: Element) =>
  children.filter((child) => typeof child !== 'string' && child.name === 'li').length
