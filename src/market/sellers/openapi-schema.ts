// Schemas of an OpenAPI document as JSON Schema 2020-12 that stands alone: references inside the document are put in place, within a
// budget; the words that 3.0 has of its own are translated, and words that only say how to write a document are dropped.
import { isObject } from '../../lib/json.ts'

type Json = Readonly<Record<string, unknown>>
export type SchemaResult =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | { readonly ok: false; readonly why: string }

export interface Resolver {
  /** The object that a reference leads to, or what was given; undefined where it leads outside or nowhere. */
  follow(value: unknown): unknown
  schema(value: unknown): SchemaResult
}

const MAX_NODES = 3000
const MAX_DEPTH = 20
const MAX_HOPS = 8
/** Words of OpenAPI that are none of JSON Schema. */
const DROPPED = new Set([
  'discriminator',
  'xml',
  'externalDocs',
  'example',
  'nullable',
  'readOnly',
  'writeOnly',
  '$schema',
  '$id',
  'deprecated',
])
/** Members whose own members are named by the document: a property may be called `example`. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Members that hold values, not schemas. */
const VALUES = new Set(['enum', 'const', 'default', 'examples', 'required', 'dependentRequired', 'type'])

class Refused extends Error {}
const refuse = (why: string): never => {
  throw new Refused(why)
}

/** @param isOld of OpenAPI 3.0 */
export function createResolver(document: Json, isOld: boolean): Resolver {
  // All schemas of a document together: a small document must not grow into a large one many times over.
  let nodes = 0

  function find(pointer: string): unknown {
    if (!pointer.startsWith('#/')) return undefined
    let found: unknown = document
    for (const part of pointer.slice(2).split('/')) {
      const name = unescape(part)
      if (name === undefined || typeof found !== 'object' || found === null || !Object.hasOwn(found, name))
        return undefined
      found = (found as Json)[name]
    }
    return found
  }

  function follow(value: unknown): unknown {
    let found = value
    for (let hops = 0; isObject(found) && typeof found['$ref'] === 'string'; hops++) {
      if (hops === MAX_HOPS) return undefined
      found = find(found['$ref'])
    }
    return found
  }

  function inline(value: unknown, depth: number, open: readonly string[]): unknown {
    if (++nodes > MAX_NODES * 10 || depth > MAX_DEPTH) refuse('a schema is too large or too deep')
    if (typeof value === 'boolean') return value
    if (!isObject(value)) return refuse('a schema is none')
    const { $ref: reference } = value
    if (reference !== undefined) {
      if (typeof reference !== 'string' || !reference.startsWith('#/'))
        return refuse('a schema refers to something outside the document')
      if (open.includes(reference)) return refuse('a schema refers to itself')
      const target = find(reference)
      if (target === undefined) return refuse('a schema refers to something that is not there')
      const { $ref: _, ...beside } = value
      const put = inline(target, depth + 1, [...open, reference])
      const others = Object.keys(beside).length === 0 || isOld ? {} : inline(beside, depth + 1, open)
      return isObject(put) && isObject(others) ? { ...put, ...others } : put
    }
    const made: Record<string, unknown> = {}
    for (const [word, inner] of Object.entries(value)) {
      if (DROPPED.has(word) || word.startsWith('x-')) continue
      made[word] = VALUES.has(word) ? inner : inlineMember(word, inner, depth, open)
    }
    if (value['example'] !== undefined && made['examples'] === undefined)
      made['examples'] = [value['example']]
    return isOld ? modernise(value, made) : made
  }

  function inlineMember(word: string, inner: unknown, depth: number, open: readonly string[]): unknown {
    if (NAMED.has(word) && isObject(inner))
      return Object.fromEntries(
        Object.entries(inner).map(([name, one]) => [name, inline(one, depth + 1, open)]),
      )
    if (Array.isArray(inner) && /^(?:allOf|anyOf|oneOf|prefixItems)$/.test(word))
      return inner.map((one) => inline(one, depth + 1, open))
    return isObject(inner) ? inline(inner, depth + 1, open) : inner
  }

  return {
    follow,
    schema(value) {
      try {
        const made = inline(value, 0, [])
        return { ok: true, value: isObject(made) ? made : {} }
      } catch (thrown) {
        if (thrown instanceof Refused) return { ok: false, why: thrown.message }
        throw thrown
      }
    },
  }
}

/** 3.0 says `nullable`, and `exclusiveMinimum: true` beside `minimum`. */
function modernise(old: Json, made: Record<string, unknown>): Record<string, unknown> {
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof made[flag] !== 'boolean') continue
    if (made[flag] && typeof made[bound] === 'number') {
      made[flag] = made[bound]
      delete made[bound]
    } else delete made[flag]
  }
  if (old['nullable'] !== true) return made
  if (typeof made['type'] === 'string') {
    const withNull =
      Array.isArray(made['enum']) && !made['enum'].includes(null) ? { enum: [...made['enum'], null] } : {}
    return { ...made, type: [made['type'], 'null'], ...withNull }
  }
  return { anyOf: [made, { type: 'null' }] }
}

function unescape(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}
