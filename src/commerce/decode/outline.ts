// One walk over a document for everybody who looks for something in it: whether it may be read at all, the texts that may be a
// secret, a card or an instruction, and what may be a mandate.
import {
  MAX_BODY_CHARS,
  MAX_DEPTH,
  type Container,
  type Found,
  type Json,
  type Mark,
  type Outline,
  type Place,
  type Text,
  type TextSource,
  type Unreadable,
} from '../ports.ts'
import { isCodeName, isMandateName, mandateOf } from './names.ts'
import { unescape } from './percent.ts'
import { pointer } from './value.ts'

/** Shorter texts are words, but for the codes of cards. */
export const TEXT_MIN_CHARS = 8
const CODE_MIN_CHARS = 3
const CODE_MAX_CHARS = 4
/** Shorter names are words; longer ones may be a secret where a name should be. */
export const NAME_MIN_CHARS = 16
/** Smaller numbers are no card and no key, and codes only where they are a member. */
export const LARGE = 1e11
export const SMALL = 10_000
const CODE_MIN = 100

/** A name that means something is no longer than this. */
const NAME_MAX_CHARS = 64

/** The end of a name that is longer than any that means something. */
export const endOf = (name: string): string =>
  name.length > NAME_MAX_CHARS ? name.slice(-NAME_MAX_CHARS) : name

const isContainer = (value: unknown): value is Container['value'] =>
  typeof value === 'object' && value !== null

/** A document to be read. */
export interface Source extends Found<Json>, TextSource {
  /** Whether others parsed it, so that it has to be held against the limits of text: no deeper and no larger. */
  readonly isLimited: boolean
}

/** Place of a container, written when somebody asks and once. */
const placeOfContainer = (one: Container): Place =>
  (one.place ??= one.up === undefined ? '' : pointer(placeOfContainer(one.up), one.key))

/** Place of a text: the value of a member stands at the member, its name at the object. */
export function placeOf({ source, holder, key, isName }: Omit<Text, 'value' | 'name'>): Place {
  // Disclosed values are not told, and neither is how they are built.
  if (holder === undefined || /#\/\d+\/disclosures\/\d+/.test(source.at)) return source.at
  return isName ? placeOfContainer(holder) : pointer(placeOfContainer(holder), key)
}

/** Each container is looked at once: what it holds itself, then the containers in it, the last one first. */
export function readOutline(source: Source): Outline {
  const { value: root, at, isLimited } = source
  const texts: Text[] = []
  const marks: Mark[] = []
  let seen = 1
  let chars = 0
  let isJson = true

  const addText = (value: string, name: string, key: string | number, holder: Container | undefined) => {
    const { length } = value
    const isCode = length >= CODE_MIN_CHARS && length <= CODE_MAX_CHARS && isCodeName(name)
    if (length >= TEXT_MIN_CHARS || isCode) texts.push({ value, name, isName: false, source, holder, key })
  }
  const visit = (value: unknown, name: string, key: string | number, holder: Container | undefined) => {
    if (typeof value === 'string') {
      chars += value.length
      // A token that lost its beginning is still known by its name and its `~`.
      const mayBeToken = value.startsWith('ey') || (isMandateName(name) && value.includes('~'))
      if (mayBeToken && holder !== undefined) marks.push({ value, name, source, holder, key })
      addText(value, name, key, holder)
      const plain = unescape(value)
      if (plain !== undefined) addText(plain, name, key, holder)
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) isJson = false
      const isCode = value >= CODE_MIN && value < SMALL && typeof key === 'string' && isCodeName(name)
      if (value >= LARGE || isCode) addText(String(value), name, key, holder)
    } else if (value !== null && typeof value !== 'boolean') isJson = false
  }
  const judge = (): Unreadable | undefined =>
    chars + seen > MAX_BODY_CHARS ? 'oversize' : isJson ? undefined : 'malformed'

  if (!isContainer(root)) {
    visit(root, '', '', undefined)
    return { why: isLimited ? judge() : undefined, texts, marks }
  }
  const stack: Container[] = [{ value: root, name: '', key: '', up: undefined, depth: 1, place: at }]
  const enter = (value: unknown, name: string, key: string | number, up: Container) => {
    seen++
    if (!isContainer(value)) return visit(value, name, key, up)
    if (mandateOf(name) !== undefined) marks.push({ value, name, source, holder: up, key })
    stack.push({ value, name, key, up, depth: up.depth + 1, place: undefined })
  }
  // A function of its own: V8 compiles a long loop while it runs, and on leaving one that stands in another it goes back to
  // uncompiled code for all that is left (a report on 128 KiB of nested lists: 6 ms instead of 3).
  const readHolder = (holder: Container) => {
    const { value: held, name } = holder
    // Indices and no iterator: holes are looked at too.
    if (isList(held)) for (let i = 0; i < held.length; i++) enter(held[i], name, i, holder)
    else
      for (const key of Object.keys(held)) {
        chars += key.length
        enter(held[key], endOf(key), key, holder)
        if (key.length >= NAME_MIN_CHARS)
          texts.push({ value: key, name: '', isName: true, source, holder, key })
      }
  }
  for (let holder = stack.pop(); holder !== undefined; holder = stack.pop()) {
    if (isLimited && holder.depth > MAX_DEPTH) return { why: 'too_deep', texts, marks }
    readHolder(holder)
    const why = isLimited ? judge() : undefined
    if (why !== undefined) return { why, texts, marks }
  }
  return { why: undefined, texts, marks }
}

/** Whether a container is a list; otherwise it is an object. */
export const isList = (value: Container['value']): value is readonly Json[] => Array.isArray(value)

/** The object or list that a text stands in; of a name, what holds that object. */
export const holderOf = ({ holder, isName }: Text): Container | undefined => (isName ? holder?.up : holder)
