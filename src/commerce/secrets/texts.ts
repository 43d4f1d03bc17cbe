// Every text of a message that may be told of, in which a person or a program may have written something: read once, for
// secrets, cards and injected instructions alike. A place is written only where something was found.
import {
  type Branch,
  branchOf,
  type Container,
  containerOf,
  endOf,
  placeOfBranch,
} from '../decode/branches.ts'
import { readBase64Json } from '../decode/json.ts'
import {
  LARGE,
  NAME_MIN_CHARS,
  outlineOf,
  readOutline,
  SMALL,
  type Source,
  type Text,
  type Where,
} from '../decode/outline.ts'
import { unescape } from '../decode/percent.ts'
import { inside, pick } from '../decode/value.ts'
import { isOversize } from '../message.ts'
import type { Detection, Found, HeaderField, Json, JsonObject, Message, Place } from '../ports.ts'

export type { Text }

export function placeOf(text: Text): Place {
  const { at } = text.source
  // What was disclosed is not told, and neither is how it is built.
  return /#\/\d+\/disclosures\/\d+/.test(at) ? at : placeOfBranch(branchOfText(text))
}

/** Of what it is the value of, or the name. */
const branchOfText = (text: Text): Branch => (text.isName ? containerOf(text)! : branchOf(text))

/** What holds that: the object whose member it is, or the list. */
export const holderOf = (text: Text): Container | undefined =>
  text.isName ? containerOf(text)!.up : containerOf(text)

export function readTexts(message: Message, detection: Detection): Text[] {
  const texts: Text[] = []
  const add = (value: string, name: string, where: Where, at: Place, isDecoded = false) => {
    if (value === '') return
    const source: Source = { value, at, where, isDecoded, containers: undefined }
    texts.push({ source, index: 0, value, name: endOf(name), isName: false })
  }
  add(message.target.text, '', 'url', '/target')
  const unescaped = unescape(message.target.text)
  if (unescaped !== undefined) add(unescaped, '', 'url', '/target', true)
  const { url } = message.target
  if (url !== undefined && url.search !== '')
    for (const [name, value] of url.searchParams) add(value, name, 'url', '/target', true)
  const documents = detection.layers.length === 0 ? [] : listDecoded(detection)
  // What is nothing but a document is read as that: its base64 would only hold something by chance.
  const isDocument = (field: HeaderField) =>
    documents.some(({ at }) => at === inside(field.at)) && !/[\s,]/.test(field.value)
  for (const field of message.headers)
    if (!isOversize(field) && !isDocument(field)) add(field.value, field.name, 'header', field.at)

  const { body } = message
  if (body.kind === 'text') addText(body.raw, message, add)
  return texts.concat(
    body.kind === 'json' ? outlineOf(body, true).texts! : [],
    ...documents.map(({ value, at }) => {
      const where = at.startsWith('/headers/') ? 'header' : 'body'
      return readOutline(
        { value, at, where, isDecoded: true, containers: undefined },
        { isLimited: false, wantsTexts: true },
      ).texts!
    }),
  )
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

/** What stands in the same object or list as a text, short words and small numbers too, or beside it in the message. */
export function listBeside(text: Text, texts: readonly Text[]): Pick<Text, 'source' | 'name' | 'value'>[] {
  const holder = holderOf(text)
  if (holder === undefined) return texts.filter(({ index, isName }) => index === 0 && !isName)
  const { source } = text
  const found: Pick<Text, 'source' | 'name' | 'value'>[] = []
  const add = (inner: Json, name: string, below: number) => {
    if (typeof inner === 'number' && (inner >= LARGE || (inner >= 0 && inner < below)))
      found.push({ source, name, value: String(inner) })
    if (typeof inner !== 'string' || inner === '') return
    found.push({ source, name, value: inner })
    const plain = inner.includes('%') ? unescape(inner) : undefined
    if (plain !== undefined) found.push({ source, name, value: plain })
  }
  const { value, name } = holder
  // Small numbers of a list are measures.
  if (Array.isArray(value)) for (const item of value as readonly Json[]) add(item, name, 0)
  else
    for (const key of Object.keys(value)) add((value as JsonObject)[key]!, endOf(key), key === '' ? 0 : SMALL)
  return found
}
