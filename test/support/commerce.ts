// Sample transactions are written down decoded, with marks where something is encoded on the wire; `wire` encodes them.
// What is changed in a variant is changed before that, so that a table can reach into headers, tokens and raw bodies.
import { hash } from 'node:crypto'
import { p256 } from '@noble/curves/p256'
import type { Transaction } from '../../schemas/commerce.ts'

export type Plain = null | boolean | number | string | Plain[] | { [name: string]: Plain }

export interface SampleSource {
  readonly target: string
  readonly method?: string
  readonly headers?: { readonly [name: string]: Plain }
  readonly body?: Plain
}

export interface Change {
  readonly op: 'remove' | 'set'
  /** JSON Pointer into the decoded sample. */
  readonly at: string
  readonly value?: Plain
}

const base64url = (text: string) => Buffer.from(text).toString('base64url')
const sha256 = (text: string) => hash('sha256', text, 'base64url')
/** Of the example key of RFC 7515, A.3, which everybody knows. It is in `cnf` of the samples. */
const KEY = Buffer.from('jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI', 'base64url')
/** ES256, and the same every time. */
export const signatureOf = (text: string) =>
  Buffer.from(p256.sign(hash('sha256', text, 'buffer'), KEY).toCompactRawBytes()).toString('base64url')
const jwsOf = (header: Plain, payload: Plain) => {
  const text = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(payload))}`
  return `${text}.${signatureOf(text)}`
}

/** What each mark becomes; its value is encoded before. */
const MARKS: Readonly<Record<string, (value: Plain) => Plain>> = {
  /** JSON in base64, a header. */
  $base64: (value) => Buffer.from(JSON.stringify(value)).toString('base64'),
  $base64url: (value) => base64url(JSON.stringify(value)),
  $payment: (value) => `Payment ${base64url(JSON.stringify(value))}`,
  /** WWW-Authenticate: quoted parameters. */
  $challenge: (value) =>
    `Payment ${Object.entries(value as object)
      .map(([name, inner]) => `${name}="${String(inner)}"`)
      .join(', ')}`,
  /** A raw body. */
  $text: (value) => JSON.stringify(value),
  $jws: (value) => jwsOf({ alg: 'ES256', typ: 'JWT' }, value),
  $offer: (value) => jwsOf({ alg: 'EdDSA', kid: 'did:web:api.example#offer-1' }, value),
  /** base64url(sha256(text)) */
  $hash: (value) => sha256(String(value)),
  /** RFC 9530 */
  $digest: (value) => `sha-256=:${hash('sha256', String(value), 'base64')}:`,
  $chain: (value) => chainOf(value as never),
}

export function encode(value: Plain): Plain {
  if (Array.isArray(value)) return value.map(encode)
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(value)
  const mark = names.length === 1 && Object.hasOwn(MARKS, names[0]!) ? MARKS[names[0]!] : undefined
  if (mark) return mark(encode(value[names[0]!]!))
  return Object.fromEntries(names.map((name) => [name, encode(value[name]!)]))
}

interface ChainSource {
  readonly open?: Plain
  /** Disclosed on its own; `{"...": "$payee"}` in the open mandate stands for its digest. */
  readonly payee?: Plain
  /** `sd_hash: "$computed"` is what it says. */
  readonly token: { readonly [name: string]: Plain }
  readonly mandate: Plain
  /** A disclosure that belongs to no digest. */
  readonly stray?: Plain
  readonly proof?: string
}

/** `open~~closed` of AP2 0.2. */
function chainOf({ open, payee, token, mandate, stray, proof }: ChainSource): string {
  const disclose = (salt: string, value: Plain) => base64url(JSON.stringify([salt, value]))
  const about = (digest: string): Plain => ({ delegate_payload: [{ '...': digest }], _sd_alg: 'sha-256' })
  let first = ''
  if (open !== undefined) {
    const inner = payee === undefined ? [] : [disclose('c2FsdC1vbmU', payee)]
    const text = JSON.stringify(open).replaceAll('"$payee"', JSON.stringify(inner[0] ? sha256(inner[0]) : ''))
    const outer = disclose('c2FsdC10d28', JSON.parse(text) as Plain)
    first = [jwsOf({ alg: 'ES256', typ: 'example+sd-jwt' }, about(sha256(outer))), ...inner, outer].join('~')
  }
  const last = disclose('c2FsdC10aHJlZQ', mandate)
  const claims = { ...(about(sha256(last)) as object), ...token } as { [name: string]: Plain }
  if (claims['sd_hash'] === '$computed') claims['sd_hash'] = sha256(`${first}~`)
  const signed = jwsOf({ alg: 'ES256', typ: 'kb+sd-jwt' }, claims)
  const closed = proof === undefined ? signed : `${signed.slice(0, signed.lastIndexOf('.'))}.${proof}`
  return `${first === '' ? '' : `${first}~~`}${closed}~${last}~${stray === undefined ? '' : `${disclose('c2FsdC1mb3Vy', stray)}~`}`
}

export const wire = (source: SampleSource): Transaction =>
  encode(source as unknown as Plain) as unknown as Transaction

/** @returns a copy with the changes made; `set` makes members that were not there */
export function change(source: SampleSource, changes: readonly Change[]): SampleSource {
  const copy = structuredClone(source) as unknown as Plain
  for (const { op, at, value } of changes) {
    const keys = at
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = keys.pop()!
    let into = copy as { [name: string]: Plain }
    for (const key of keys) {
      const next = into[key]
      if (typeof next !== 'object' || next === null) throw new Error(`nothing to change at ${at}`)
      into = next as { [name: string]: Plain }
    }
    if (op === 'set') into[last] = value!
    else if (!Object.hasOwn(into, last)) throw new Error(`nothing to remove at ${at}`)
    else if (Array.isArray(into)) into.splice(Number(last), 1)
    else delete into[last]
  }
  return copy as unknown as SampleSource
}

/** Every member of the decoded sample, deepest last. */
export function* membersOf(value: Plain, at = ''): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    const path = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (!name.startsWith('$')) yield path
    yield* membersOf(inner, path)
  }
}
