// These checks ask whether a value has the form that its job needs; nothing here verifies a signature or knows a key.
import { SAFE_METHODS } from '../message.ts'
import type { Binding, Found, Place } from '../ports.ts'
import type { Credential } from '../decode/jws.ts'
import type { Numeral } from '../decode/value.ts'
import type { HttpSignature } from '../wire/http.ts'
import { WORD } from '../x402/shape.ts'
import { all, none, type Sample, some, type Verdict } from './model.ts'

/** Shorter than this, an identifier can be guessed. */
export const GUESSABLE_BELOW_CHARS = 8

const BITS = [
  { form: /^\d+$/, bits: 3.32 },
  { form: /^[\da-f]+$/i, bits: 4 },
  { form: /^[\da-z]+$/, bits: 5.17 },
  { form: /^[\dA-Z]+$/, bits: 5.17 },
] as const

/** Upper bound of what a random value of this form holds; separators hold nothing. */
function bitsOf(text: string): number {
  const bare = text.replaceAll(/[-_.:]/g, '')
  return bare.length * (BITS.find(({ form }) => form.test(bare))?.bits ?? 5.95)
}

/** 128 bits or more by its form (a UUID is accepted), and not one repeated pattern. */
export const isUnguessable = (text: string): boolean =>
  (bitsOf(text) >= 128 || UUID.test(text)) && new Set(text.toLowerCase()).size >= 8

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/** 32 bytes in hexadecimal with more than four different digits. */
export const isRandomWord = (text: string): boolean =>
  WORD.test(text) && new Set(text.slice(2).toLowerCase()).size > 4

/** A uint256 in decimal. */
export const isUint256 = (text: string): boolean => /^\d{1,78}$/.test(text)

/** Whether the HTTP method changes nothing (RFC 9110, 9.2.1). */
export const isSafeMethod = ({ message }: Sample): boolean => SAFE_METHODS.has(message.method)

/** The binding of a kind that speaks of a place, whichever side it is on. */
export const bindingAt = (
  { bindings }: Sample,
  kind: Binding['kind'],
  place: Place | undefined,
): Binding | undefined =>
  bindings.find((binding) => binding.kind === kind && (binding.at === place || binding.with === place))

/** The worst binding of a kind; undefined where there is none. */
export const bindingOf = ({ bindings }: Sample, kind: Binding['kind']): Binding | undefined => {
  const found = bindings.filter((binding) => binding.kind === kind)
  return SEVERITY.map((verdict) => found.find((binding) => binding.verdict === verdict)).find(Boolean)
}

/** The worst of several of one kind decides. */
const SEVERITY = ['mismatch', 'unverifiable', 'partial', 'match'] as const

/** Points by what a comparison gave: all, some for the halves in between, none. */
export function judgeBinding(
  binding: Binding | undefined,
  points: { readonly partial: number; readonly unverifiable: number },
  missing: string,
): Verdict {
  if (!binding) return none(missing)
  if (binding.verdict === 'match') return all(binding.at)
  if (binding.verdict === 'mismatch') return none(binding.message, binding.at)
  return some(points[binding.verdict], binding.message, binding.at)
}

/** A signature or proof by its form; an example's ellipsis gets half. */
export function judgeCredential(
  max: number,
  credential: Credential | null,
  minBytes: number,
  what: string,
): Verdict {
  if (!credential) return none(`There is no ${what}.`)
  if (credential.isPlaceholder) return placeholder(max, credential.at, what)
  const bytes = credential.bytes ?? Math.floor((credential.length * 3) / 4)
  return bytes >= minBytes
    ? all(credential.at)
    : some(Math.floor(max / 2), `The ${what} is too short to be one: ${bytes} bytes.`, credential.at)
}

/** Half the points, for an example's ellipsis. */
export const placeholder = (max: number, at: Place, what: string): Verdict => ({
  points: Math.floor(max / 2),
  at,
  finding: `PLACEHOLDER: the ${what} is an example's ellipsis, not a value.`,
  isPlaceholder: true,
})

/** An idempotency key or identifier by its form. */
export function judgeKeyForm(max: number, key: Found<string> | null, missing: string): Verdict {
  if (!key) return none(missing)
  if (isUnguessable(key.value) && key.value.length <= 255) return all(key.at)
  return some(
    Math.floor(max / 2),
    'The key has less than 128 bits or is longer than 255 characters: use a UUID v4.',
    key.at,
  )
}

/** The RFC 9421 signature that covers most of what matters. */
export const covers = (signature: HttpSignature | null, component: string): signature is HttpSignature =>
  signature !== null && signature.value !== null && signature.components.includes(component)

/** An integer of the protocol as a number of seconds; undefined where it is none that a date could be. */
export const secondsOf = (numeral: Numeral | null): number | undefined =>
  numeral?.isInteger && numeral.value.length <= 12 ? Number(numeral.value) : undefined

/** Undefined where it is no integer of at most 78 digits. */
export const bigOf = (numeral: Numeral | null): bigint | undefined =>
  numeral?.isInteger && numeral.value.length <= 78 ? BigInt(numeral.value) : undefined

/** Whether an identifier is there and short enough to be guessed. */
export const isGuessable = (id: Found<string> | null): id is Found<string> =>
  id !== null && id.value.length < GUESSABLE_BELOW_CHARS

/** Place of the id of a JSON-RPC request; null where the body is none. */
export function placeOfJsonRpcId({ message: { body } }: Sample): Place | null {
  if (body.kind !== 'json' || typeof body.value !== 'object' || body.value === null) return null
  const { jsonrpc, id } = body.value as { jsonrpc?: unknown; id?: unknown }
  if (jsonrpc !== '2.0' || (typeof id !== 'string' && typeof id !== 'number')) return null
  return body.raw === undefined ? '/body/id' : '/body#/id'
}
