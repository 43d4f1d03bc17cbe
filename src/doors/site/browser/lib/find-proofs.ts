// Finds signed documents in whatever somebody pastes: a compact JWS, a header line, a receipt, a whole answer, an agent card, the
// headers of x402, or what a command printed.
import canonicalize from 'canonicalize'
import { isObject } from '../../../../lib/json.ts'
import { fromBase64url } from './base64url.ts'
import { attachPayload, parse } from './proof.ts'

export interface FoundProof {
  /** Compact. More than one where several signatures stand over forms of one document: one good one is enough. */
  readonly candidates: readonly [string, ...string[]]
  /** Members that lead to it, from the outside: `receipt.jws`; empty where it stands alone. */
  readonly at: string
  /** What it was pasted with, for the digests in it: an answer, or a body. */
  readonly beside?: unknown
}

/** Why nothing was found, for words that help. */
export type Nothing =
  | 'empty'
  | 'too_long'
  | 'nothing'
  | 'half'
  | 'encrypted'
  | 'receipt_id'
  | 'other_id'
  | 'keys'
  | 'needs_body'
  | 'broken_json'

export type Finding =
  | { readonly proofs: readonly [FoundProof, ...FoundProof[]] }
  | { readonly nothing: Nothing; readonly id?: string }

const MAX_CHARACTERS = 2 * 1024 * 1024
const MAX_PROOFS = 24
const MAX_DEPTH = 16

/** Three parts; the first of every head that is JSON begins alike. */
const COMPACT = /(?<![\w.-])eyJ[\w-]*\.[\w-]*\.[\w-]*(?![\w.-])/g
const ONLY_COMPACT = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/
/** Payment-Required and its like: JSON in base64. */
const ENCODED = /(?<![\w.+/-])eyJ[\w+/-]{60,}={0,2}(?![\w.+/=-])/g

/**
 * @param text as it was pasted or dropped
 * @param body what a detached signature is over, and digests may be of; empty where there is none
 */
export function findProofs(text: string, body = ''): Finding {
  const trimmed = text.trim()
  if (trimmed === '') return { nothing: 'empty' }
  if (trimmed.length > MAX_CHARACTERS) return { nothing: 'too_long' }
  const found = new Map<string, FoundProof>()
  const document = parse(trimmed)
  if (document !== undefined && typeof document !== 'number') walk(document, found)
  else {
    // An answer with its headers in front: the JSON is told apart from them.
    const json = parse(trimmed.slice(Math.max(0, trimmed.search(/^[{[]/m))))
    if (isObject(json)) walk(json, found)
    for (const [jws] of trimmed.matchAll(COMPACT)) add(found, { candidates: [jws], at: '' })
    for (const [encoded] of trimmed.matchAll(ENCODED)) walk(decodeJson(encoded), found)
  }
  const proofs = [...found.values()].flatMap((proof): FoundProof[] => {
    const [jws] = proof.candidates
    const [head = '', payload, signature = ''] = jws.split('.')
    if (payload !== '') return [proof]
    return body === '' ? [] : [{ ...proof, candidates: [attachPayload(head, body, signature)] }]
  })
  const [first, ...others] = proofs
  if (first) return { proofs: [first, ...others] }
  return found.size > 0 ? { nothing: 'needs_body' } : explain(trimmed, document)
}

function add(found: Map<string, FoundProof>, proof: FoundProof): void {
  const [jws] = proof.candidates
  if (found.size < MAX_PROOFS && !found.has(jws)) found.set(jws, proof)
}

function walk(
  value: unknown,
  found: Map<string, FoundProof>,
  at: readonly string[] = [],
  around: readonly unknown[] = [],
): void {
  if (at.length > MAX_DEPTH) return
  if (typeof value === 'string') {
    const jws = value.trim()
    if (ONLY_COMPACT.test(jws)) {
      // `{…, receipt: {jws}}`: the answer is around the receipt. A document that is nothing but the JWS and its claims has none.
      const beside = around.at(-2) ?? around.at(-1)
      add(found, { candidates: [jws], at: nameOf(at), ...(beside !== undefined && { beside }) })
    } else if (at.length < MAX_DEPTH && value.startsWith('eyJ'))
      walk(decodeJson(value), found, [...at, ''], [])
    // MCP and A2A carry answers as JSON in a text.
    else if (/^\s*\{/.test(value)) walk(parse(value), found, [...at, ''], [])
    return
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) walk(item, found, [...at, String(index)], around)
    return
  }
  if (!isObject(value)) return
  const card = readCard(value)
  if (card) add(found, { candidates: card, at: nameOf([...at, 'signatures']) })
  for (const [name, member] of Object.entries(value)) walk(member, found, [...at, name], [...around, value])
}

const nameOf = (at: readonly string[]) => at.filter((name) => name !== '').join('.')

/** A2A, section 8.4: signatures over the RFC 8785 form of the card without them. */
function readCard(card: Readonly<Record<string, unknown>>): FoundProof['candidates'] | undefined {
  const { signatures, ...rest } = card
  if (!Array.isArray(signatures)) return undefined
  const [first, ...others] = signatures.slice(0, MAX_PROOFS).flatMap((each: unknown) => {
    if (!isObject(each)) return []
    const { protected: head, signature } = each
    if (typeof head !== 'string' || typeof signature !== 'string') return []
    return [attachPayload(head, toCanonical(rest), signature)]
  })
  return first === undefined ? undefined : [first, ...others]
}

function toCanonical(value: unknown): string {
  try {
    return canonicalize(value) ?? ''
  } catch {
    return ''
  }
}

function decodeJson(encoded: string): unknown {
  const bytes = fromBase64url(encoded.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''))
  return bytes && parse(new TextDecoder().decode(bytes))
}

function explain(text: string, document: unknown): Finding {
  if (isObject(document)) {
    if (Array.isArray(document['keys'])) return { nothing: 'keys' }
    return { nothing: 'nothing' }
  }
  const [, id] = /(?:^|\/|\s)((?:rcp|clm|qte|pmt|evd|att|rfd)_[0-9a-z]{20,64})$/.exec(text) ?? []
  if (id !== undefined) return { nothing: id.startsWith('rcp_') ? 'receipt_id' : 'other_id', id }
  if (/^[[{]/.test(text)) return { nothing: 'broken_json' }
  const parts = text.split('.')
  if (/^eyJ[\w.-]*$/.test(text) && parts.length === 5) return { nothing: 'encrypted' }
  return { nothing: text.startsWith('eyJ') ? 'half' : 'nothing' }
}
