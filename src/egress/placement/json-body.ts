// A member put into a JSON text without writing the rest of it anew: numbers, spaces and the order of members stay as the caller
// sent them.
import { hasRepeatedMember, isObject, parseJson } from '../../lib/json.ts'
import { decodeUtf8 } from '../../lib/utf8.ts'

const MAX_JSON_DEPTH = 512

export type JsonRoom =
  | { readonly ok: true }
  | {
      readonly ok: false
      readonly reason: 'not_an_object' | 'repeated_member' | 'member_exists' | 'parent_not_an_object'
    }

/**
 * Whether the member can be added: the body is an object, or there is none, and nothing stands where the member goes, in any case:
 * some servers read `KEY` as `key`, and take the last.
 */
export function findJsonRoom(body: Buffer | undefined, pointer: string): JsonRoom {
  const room = findRoom(body, pointer, (parent, name) => {
    const wanted = foldCase(name)
    return Object.keys(parent).every((given) => given === name || foldCase(given) !== wanted)
  })
  // Of `{"auth":{"key":"mine"},"auth":{}}` one server reads the first, and another the last.
  return room.ok && body && hasRepeatedMember(body.toString(), parseObject(body) ?? {})
    ? { ok: false, reason: 'repeated_member' }
    : room
}

/** In all of Unicode, as the decoder of Go reads names: the long s (ſ) is an s, and the sign of Kelvin a k. */
const foldCase = (name: string) => name.toUpperCase().toLowerCase()

/** @param isOnly whether no other name of the parent means the same */
function findRoom(
  body: Buffer | undefined,
  pointer: string,
  isOnly: (parent: object, name: string) => boolean = () => true,
): JsonRoom {
  if (body === undefined || body.length === 0) return { ok: true }
  const root = parseObject(body)
  if (!root) return { ok: false, reason: 'not_an_object' }
  const names = namesOf(pointer)
  let parent: unknown = root
  for (const [i, name] of names.entries()) {
    if (!isObject(parent)) return { ok: false, reason: 'parent_not_an_object' }
    if (!isOnly(parent, name)) return { ok: false, reason: 'member_exists' }
    if (!Object.hasOwn(parent, name)) return { ok: true }
    if (i === names.length - 1) return { ok: false, reason: 'member_exists' }
    parent = parent[name]
  }
  return { ok: true }
}

/**
 * @param body a JSON object, or none
 * @throws where there is no room (findRoom)
 */
export function insertMember(body: Buffer | undefined, pointer: string, value: string): Buffer {
  const names = namesOf(pointer)
  const text = body === undefined || body.length === 0 ? '{}' : decodeUtf8(body)
  if (text === undefined || !findRoom(body, pointer).ok)
    throw new Error('placement: there is no room in the body')
  const parsed: unknown = JSON.parse(text)
  let parent: unknown = parsed
  let depth = 0
  // The deepest object of the pointer that is there already.
  for (const name of names.slice(0, -1)) {
    if (!isObject(parent) || !Object.hasOwn(parent, name)) break
    parent = parent[name]
    depth++
  }
  const at = findObject(text, names.slice(0, depth))
  const [first = '', ...inner] = names.slice(depth)
  const member = `${JSON.stringify(first)}:${inner.reduceRight(
    (nested, name) => `{${JSON.stringify(name)}:${nested}}`,
    JSON.stringify(value),
  )}`
  const isEmpty = isObject(parent) && Object.keys(parent).length === 0
  return Buffer.from(`${text.slice(0, at)}${member}${isEmpty ? '' : ','}${text.slice(at)}`)
}

/**
 * Everywhere that the pointer leads, where a name stands twice.
 * @param text valid JSON
 */
export function removeMember(text: string, pointer: string): string {
  const names = namesOf(pointer)
  const cuts: (readonly [start: number, end: number])[] = []
  const open: { readonly isObject: boolean; name: string | undefined; comma: number | undefined }[] = []
  let cut: { readonly depth: number; readonly start: number; readonly comma: number | undefined } | undefined
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const inner = open.at(-1)
    const isEndOfCut = cut?.depth === open.length
    if (token === '{' || token === '[')
      open.push({ isObject: token === '{', name: undefined, comma: undefined })
    else if (token === '}' || token === ']') {
      // The last one takes the comma before it along, every other the one behind it.
      if (cut && isEndOfCut) cuts.push([cut.comma ?? cut.start, index])
      if (isEndOfCut) cut = undefined
      open.pop()
    } else if (token === ',' && inner) {
      if (cut && isEndOfCut) cuts.push([cut.start, index + 1])
      else inner.comma = index
      if (isEndOfCut) cut = undefined
      inner.name = undefined
    } else if (inner?.isObject && inner.name === undefined) {
      inner.name = JSON.parse(token) as string
      const isThere = open.length === names.length && open.every(({ name }, at) => name === names[at])
      if (isThere) cut = { depth: open.length, start: index, comma: inner.comma }
    }
  }
  let left = ''
  let from = 0
  for (const [start, end] of cuts.toSorted(([a], [b]) => a - b)) {
    if (start < from) continue
    left += text.slice(from, start)
    from = end
  }
  return left + text.slice(from)
}

const namesOf = (pointer: string) => pointer.slice(1).split('/')

function parseObject(body: Buffer): Record<string, unknown> | undefined {
  const text = decodeUtf8(body)
  if (text === undefined) return undefined
  try {
    const parsed = parseJson(text, MAX_JSON_DEPTH)
    return isObject(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s"{}[\]:,]+/g

/**
 * @param text valid JSON whose top is an object
 * @param names of members, from the top inwards, each of them an object
 * @returns the place behind the opening brace of the last; no name stands twice (findJsonRoom)
 */
function findObject(text: string, names: readonly string[]): number {
  if (names.length === 0) return text.indexOf('{') + 1
  let found = -1
  // Names of the members that are open around the token; a list has the name ''.
  const path: string[] = []
  let name = ''
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      path.push(name)
      const inside = path.slice(1)
      if (token === '{' && inside.length === names.length && inside.every((one, i) => one === names[i]))
        found = index + 1
      name = ''
    } else if (token === '}' || token === ']') {
      path.pop()
      name = ''
    } else if (token === ',') name = ''
    else if (token.startsWith('"') && name === '') name = JSON.parse(token) as string
  }
  if (found < 0) throw new Error('placement: the member is not in the text')
  return found
}
