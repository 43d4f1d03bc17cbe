// Every text of a message that a person or a program wrote, with where it stands: read once, for secrets, cards and injected
// instructions alike. A place is written only where something was found.
import { readBase64Json } from '../decode/json.ts'
import { inside, pick, pointer } from '../decode/value.ts'
import { isOversize, jsonBody } from '../message.ts'
import type { Detection, Found, HeaderField, Json, JsonObject, Message, Place } from '../ports.ts'

export type Where = 'url' | 'header' | 'body'

interface Branch {
  readonly up: Branch | undefined
  readonly key: string | number
  /** Of the root of a document. */
  readonly at: Place
}

export interface Text {
  readonly value: string
  /** Of the member or header it is the value of, its end where it is long; list items have that of their list. */
  readonly name: string
  readonly where: Where
  /** Decoded out of something else, e.g. a payment header. */
  readonly isDecoded: boolean
  /** It is the name of a member, not its value. */
  readonly isName: boolean
  readonly branch: Branch
}

export function placeOf({ branch }: Text): Place {
  let top = branch
  while (top.up !== undefined) top = top.up
  // What was disclosed is not told, and neither is how it is built.
  return /#\/\d+\/disclosures\/\d+/.test(top.at) ? top.at : placeOfBranch(branch)
}

/** Of containers: names are as long as a stranger makes them, and what stands under one is put in words many times. */
const places = new WeakMap<Branch, Place>()

function placeOfBranch({ up, key, at }: Branch): Place {
  if (up === undefined) return at
  const above = places.get(up) ?? placeOfBranch(up)
  places.set(up, above)
  return pointer(above, key)
}

const endOf = (name: string): string => (name.length > NAME_MAX_CHARS ? name.slice(-NAME_MAX_CHARS) : name)

const root = (at: Place): Branch => ({ up: undefined, key: '', at })

/** Shorter names are words; longer ones may be a secret where a name should be. */
const NAME_MIN_CHARS = 16
/** No name that means something is longer. */
const NAME_MAX_CHARS = 64
/** Smaller numbers are no card and no key. */
const LARGE = 1e11
const SMALL = 10_000

export function readTexts(message: Message, detection: Detection): Text[] {
  const texts: Text[] = []
  const add = (value: string, name: string, where: Where, at: Place, isDecoded = false) => {
    if (value !== '')
      texts.push({ value, name: endOf(name), where, isDecoded, isName: false, branch: root(at) })
  }
  add(message.target.text, '', 'url', '/target')
  const unescaped = unescape(message.target.text)
  if (unescaped !== undefined) add(unescaped, '', 'url', '/target', true)
  for (const [name, value] of message.target.url?.searchParams ?? []) add(value, name, 'url', '/target', true)
  const documents = listDecoded(detection)
  // What is nothing but a document is read as that: its base64 would only hold something by chance.
  const isDocument = (field: HeaderField) =>
    documents.some(({ at }) => at === inside(field.at)) && !/[\s,]/.test(field.value)
  for (const field of message.headers)
    if (!isOversize(field) && !isDocument(field)) add(field.value, field.name, 'header', field.at)

  const body = jsonBody(message)
  if (body !== null) walk(body, 'body', false, texts)
  else if (message.body.kind === 'text') addText(message.body.raw, message, add)
  for (const document of documents) {
    const where = document.at.startsWith('/headers/') ? 'header' : 'body'
    walk(document, where, true, texts)
  }
  return texts
}

function addText(
  raw: string,
  message: Message,
  add: (value: string, name: string, where: Where, at: Place, isDecoded?: boolean) => void,
): void {
  if (/^application\/x-www-form-urlencoded/i.test(message.header('content-type')?.value ?? '')) {
    // Field by field: what stands beside each other there has nothing to do with each other.
    for (const [name, value] of new URLSearchParams(raw)) {
      add(value, name, 'body', '/body', true)
      if (name.length >= NAME_MIN_CHARS) add(name, '', 'body', '/body', true)
    }
    return
  }
  add(raw, '', 'body', '/body')
  const plain = raw.includes('%') ? unescape(raw) : undefined
  if (plain !== undefined) add(plain, '', 'body', '/body', true)
}

/** Undefined where nothing is escaped. */
export function unescape(text: string): string | undefined {
  if (!/%[\dA-Fa-f]{2}/.test(text)) return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    // What is no UTF-8 is left as it is; the rest of it is read all the same.
    return text.replaceAll(/%([2-7][\dA-Fa-f])/g, (_escape, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  }
}

/** Documents that the walk over the body does not meet. */
function listDecoded({ layers }: Detection): Found<Json>[] {
  const found = new Map<Place, Found<Json>>()
  for (const { document } of layers) {
    if (document === undefined) continue
    if (document.at.replace(/^\/body#/, '/body').includes('#')) found.set(document.at, document)
    // MPP writes what is paid for into one more layer of base64.
    for (const request of [pick(document, 'request'), pick(document, 'challenge', 'request')]) {
      if (typeof request?.value !== 'string') continue
      const read = readBase64Json(request.value)
      if (read.ok) found.set(request.at, { value: read.value, at: inside(request.at) })
    }
  }
  return [...found.values()]
}

/** A container that is still to be read, and the branch of everything that stands in it. */
interface Step extends Branch {
  readonly value: readonly Json[] | JsonObject
  readonly name: string
}

/**
 * Depth is bounded by whoever parsed it; iterative all the same. Containers cost one object each and texts two: a message may
 * be made of nothing else, and memory that is still held when the next is asked for is paid for twice.
 */
function walk(from: Found<Json>, where: Where, isDecoded: boolean, into: Text[]): void {
  const stack: Step[] = []
  const add = (value: string, name: string, up: Branch | undefined, key: string | number, at: Place) =>
    into.push({ value, name, where, isDecoded, isName: false, branch: { up, key, at } })
  const look = (value: Json, name: string, up: Branch | undefined, key: string | number, at: Place) => {
    if (typeof value === 'string') {
      if (value !== '') add(value, name, up, key, at)
      const plain = value.includes('%') ? unescape(value) : undefined
      if (plain !== undefined) add(plain, name, up, key, at)
    } else if (typeof value === 'number') {
      if (value >= LARGE || (value >= 0 && value < SMALL && name !== ''))
        add(String(value), name, up, key, at)
    } else if (typeof value === 'object' && value !== null) stack.push({ value, name, up, key, at })
  }
  look(from.value, '', undefined, '', from.at)
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { value, name } = top
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        const item = (value as readonly Json[])[index]!
        // Small numbers of a list are measures, not codes.
        if (typeof item !== 'number' || item >= LARGE) look(item, name, top, index, '')
      }
    } else
      for (const key of Object.keys(value)) {
        look((value as JsonObject)[key]!, endOf(key), top, key, '')
        if (key.length >= NAME_MIN_CHARS)
          into.push({ value: key, name: '', where, isDecoded, isName: true, branch: top })
      }
  }
}
