// Every text of a message that may be told of, in which a person or a program may have written something: read once, for
// secrets, cards and injected instructions alike.
import type { Analysis } from '../analysis.ts'
import { readBase64Json } from '../decode/json.ts'
import { endOf, holderOf, isList, LARGE, NAME_MIN_CHARS, readOutline, SMALL } from '../decode/outline.ts'
import { unescape } from '../decode/percent.ts'
import { readJws } from '../decode/jws.ts'
import { inside, pick, pickText } from '../decode/value.ts'
import { isOversize } from '../message.ts'
import type { Detection, Found, HeaderField, Json, Message, Place, Text, Where } from '../ports.ts'

/** A text that stands alone: in the target, a header, or a body that is no JSON. */
const lone = (value: string, name: string, where: Where, at: Place, isDecoded = false): Text => ({
  value,
  name: endOf(name),
  isName: false,
  source: { at, where, isDecoded },
  holder: undefined,
  key: '',
})

/** @returns those of the target, the headers, the body, and the documents that were decoded out of any of them */
export function readTexts({ message, detection }: Pick<Analysis, 'message' | 'detection'>): Text[] {
  const documents = listDecoded(detection)
  // A field that is nothing but a document is read as that: its base64 would only hold something by chance.
  const isDocument = (field: HeaderField) =>
    documents.some(({ at }) => at === inside(field.at)) && !/[\s,]/.test(field.value)
  const headers = message.headers.filter((field) => !isOversize(field) && !isDocument(field))
  return [
    ...readTarget(message),
    ...headers.map(({ value, name, at }) => lone(value, name, 'header', at)),
    ...readTextBody(message),
  ]
    .filter(({ value }) => value !== '')
    .concat(
      message.outline.texts,
      ...documents.map(({ value, at }) => {
        const where = at.startsWith('/headers/') ? 'header' : 'body'
        return readOutline({ value, at, where, isDecoded: true, isLimited: false }).texts
      }),
    )
}

function readTarget({ target: { text, url } }: Message): Text[] {
  const plain = unescape(text)
  return [
    lone(text, '', 'url', '/target'),
    ...(plain === undefined ? [] : [lone(plain, '', 'url', '/target', true)]),
    // A URL builds its parameters when it is asked for them, also where it has none.
    ...(url === undefined || url.search === '' ? [] : [...url.searchParams]).map(([name, value]) =>
      lone(value, name, 'url', '/target', true),
    ),
  ]
}

function readTextBody(message: Message): Text[] {
  if (message.body.kind !== 'text') return []
  const { raw } = message.body
  if (/^application\/x-www-form-urlencoded/i.test(message.header('content-type')?.value ?? ''))
    // Field by field: what stands beside each other there has nothing to do with each other.
    return [...new URLSearchParams(raw)].flatMap(([name, value]) => [
      lone(value, name, 'body', '/body', true),
      ...(name.length >= NAME_MIN_CHARS ? [lone(name, '', 'body', '/body', true)] : []),
    ])
  const plain = unescape(raw)
  return [
    lone(raw, '', 'body', '/body'),
    ...(plain === undefined ? [] : [lone(plain, '', 'body', '/body', true)]),
  ]
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
    // AP2 carries the checkout that a merchant signed inside a mandate.
    const checkout = pickText(document, 'checkout_jwt')
    const signed = checkout && readJws(checkout.value, checkout.at)?.payload
    if (signed) found.set(signed.at, signed)
  }
  return [...found.values()]
}

/** The values in the same object or list as a text, short words and small numbers too, or beside it in the message. */
export function listBeside(
  text: Text,
  texts: readonly Text[],
): readonly Pick<Text, 'source' | 'name' | 'value'>[] {
  const holder = holderOf(text)
  if (holder === undefined) return texts.filter((one) => one.holder === undefined)
  const { source } = text
  const found: Pick<Text, 'source' | 'name' | 'value'>[] = []
  const add = (inner: Json, name: string, below: number) => {
    if (typeof inner === 'number' && (inner >= LARGE || (inner >= 0 && inner < below)))
      found.push({ source, name, value: String(inner) })
    if (typeof inner !== 'string' || inner === '') return
    found.push({ source, name, value: inner })
    const plain = unescape(inner)
    if (plain !== undefined) found.push({ source, name, value: plain })
  }
  const { value, name } = holder
  // Small numbers of a list are measures.
  if (isList(value)) for (const item of value) add(item, name, 0)
  else for (const [key, inner] of Object.entries(value)) add(inner, endOf(key), key === '' ? 0 : SMALL)
  return found
}
