// Members put into a JSON text, or taken out, without writing the rest of it anew: numbers, spaces and the order of members stay as the
// caller sent them.
import { GatewayError } from '../../core/errors.ts'
import { hasRepeatedMember, isObject, parseJson } from '../../lib/json.ts'
import { decodeUtf8 } from '../../lib/utf8.ts'
import { MAX_PLACED_ITEMS } from './body-bounds.ts'
import { behindSpace, type Member, membersOf, readString } from './json-members.ts'

const MAX_JSON_DEPTH = 512

export type JsonRoom =
  | { readonly ok: true }
  | {
      readonly ok: false
      readonly reason:
        'not_an_object' | 'too_many_items' | 'repeated_member' | 'member_exists' | 'parent_not_an_object'
      /** Of the member that has no room, or the first. */
      readonly pointer: string
    }

/**
 * Whether all these members can be added: the body is an object, or there is none, and nothing stands where they go, in any case: some
 * servers read `KEY` as `key`, and take the last. The body is parsed once, however many they are.
 */
export function findJsonRoom(body: Buffer | undefined, pointers: readonly string[]): JsonRoom {
  const [first] = pointers
  if (body === undefined || body.length === 0 || first === undefined) return { ok: true }
  const text = decodeUtf8(body)
  const root = text === undefined ? undefined : parseRoot(text)
  if (root === 'too_many_items') return { ok: false, reason: root, pointer: first }
  if (text === undefined || !isObject(root)) return { ok: false, reason: 'not_an_object', pointer: first }
  for (const pointer of pointers) {
    const reason = whyNoRoom(root, namesOf(pointer))
    if (reason) return { ok: false, reason, pointer }
  }
  // Of `{"auth":{"key":"mine"},"auth":{}}` one server reads the first, and another the last.
  return hasRepeatedMember(text, root)
    ? { ok: false, reason: 'repeated_member', pointer: first }
    : { ok: true }
}

function whyNoRoom(
  root: Record<string, unknown>,
  names: readonly string[],
): 'member_exists' | 'parent_not_an_object' | undefined {
  let parent: unknown = root
  for (const [i, name] of names.entries()) {
    if (!isObject(parent)) return 'parent_not_an_object'
    if (holdsOtherCase(parent, name)) return 'member_exists'
    if (!Object.hasOwn(parent, name)) return undefined
    if (i === names.length - 1) return 'member_exists'
    parent = parent[name]
  }
  return undefined
}

function holdsOtherCase(parent: object, name: string): boolean {
  const wanted = foldCase(name)
  return Object.keys(parent).some(
    // No name is shorter once it is folded.
    (given) => given !== name && given.length <= wanted.length && foldCase(given) === wanted,
  )
}

/** In all of Unicode, as the decoder of Go reads names: the long s (ſ) is an s, and the sign of Kelvin a k. */
const foldCase = (name: string) => name.toUpperCase().toLowerCase()

/**
 * @param body a JSON object, or none, with room for all of them (findJsonRoom)
 * @param members by pointer, in the order in which they are put in
 * @throws where there is no room after all
 */
export function insertMembers(
  body: Buffer | undefined,
  members: readonly (readonly [pointer: string, value: string])[],
): Buffer {
  const text = body === undefined || body.length === 0 ? '{}' : decodeUtf8(body)
  if (text === undefined) throw new Error('placement: there is no room in the body')
  return Buffer.from(
    members.reduce((left, [pointer, value]) => insertMember(left, namesOf(pointer), value), text),
  )
}

function insertMember(text: string, names: readonly string[], value: string): string {
  let open = behindSpace(text, 0)
  let [first = '', ...inner] = names
  // Down to the deepest object of the pointer that is there already.
  for (;;) {
    if (text[open] !== '{') throw new Error('placement: there is no room in the body')
    const found = findMember(text, open, first)
    if (!found) break
    const [next] = inner
    if (next === undefined) throw new Error('placement: there is no room in the body')
    open = found.value
    ;[first, ...inner] = [next, ...inner.slice(1)]
  }
  const member = `${JSON.stringify(first)}:${inner.reduceRight(
    (nested, name) => `{${JSON.stringify(name)}:${nested}}`,
    JSON.stringify(value),
  )}`
  const isEmpty = text[behindSpace(text, open + 1)] === '}'
  return `${text.slice(0, open + 1)}${member}${isEmpty ? '' : ','}${text.slice(open + 1)}`
}

const findMember = (text: string, open: number, name: string): Member | undefined => {
  for (const member of membersOf(text, open)) if (member.name === name) return member
  return undefined
}

/** Texts, everywhere that a pointer leads, where a name stands twice. */
export function textsAt(text: string, pointers: readonly string[]): readonly string[] {
  return Array.from(
    findTexts(text, behindSpace(text, 0), pointers.map(namesOf)),
    ({ value }) => value,
  ).filter((value) => value !== null)
}

/**
 * Takes them out, and each `null`, which libraries write where they were given no key. What else stands there is no key, and stays. What is no
 * JSON does not become JSON by it.
 * @returns undefined where there is none of them
 */
export function removeTexts(text: string, pointers: readonly string[]): string | undefined {
  const cuts = Array.from(findTexts(text, behindSpace(text, 0), pointers.map(namesOf)), ({ cut }) => cut)
  if (cuts.length === 0) return undefined
  let left = ''
  let from = 0
  for (const [start, end] of cuts.toSorted(([a], [b]) => a - b)) {
    if (start < from) continue
    left += text.slice(from, start)
    from = end
  }
  return left + text.slice(from)
}

interface FoundText {
  /** Null where there is none. */
  readonly value: string | null
  /** Of the member, with the comma that goes with it. */
  readonly cut: readonly [start: number, end: number]
}

function* findTexts(
  text: string,
  open: number,
  pointers: readonly (readonly string[])[],
): Generator<FoundText, void> {
  if (text[open] !== '{') return
  // Of the last member that stays.
  let comma: number | undefined
  for (const member of membersOf(text, open)) {
    const here = pointers.filter(([first]) => first === member.name)
    const found = here.some(({ length }) => length === 1) ? findText(text, member, comma) : undefined
    if (found) yield found
    else comma = member.delimiter
    const inner = here.map(([, ...names]) => names).filter(({ length }) => length > 0)
    if (inner.length > 0) yield* findTexts(text, member.value, inner)
  }
}

/** The last one takes the comma before it along, every other the one behind it. */
function findText(
  text: string,
  { start, value, end, delimiter }: Member,
  comma: number | undefined,
): FoundText | undefined {
  const read = readKey(text.slice(value, end))
  if (read === undefined) return undefined
  if (text[delimiter] === '}') return { value: read, cut: [comma ?? start, delimiter] }
  // A comma that no name follows is no JSON.
  return text[behindSpace(text, delimiter + 1)] === '"'
    ? { value: read, cut: [start, delimiter + 1] }
    : undefined
}

const readKey = (json: string): string | null | undefined =>
  json === 'null' ? null : json.startsWith('"') ? readString(json) : undefined

const namesOf = (pointer: string) => pointer.slice(1).split('/')

function parseRoot(text: string): unknown {
  try {
    return parseJson(text, MAX_JSON_DEPTH, MAX_PLACED_ITEMS)
  } catch (thrown) {
    return thrown instanceof GatewayError && thrown.code === 'body_too_large' ? 'too_many_items' : undefined
  }
}
