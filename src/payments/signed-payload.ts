// The payload of our own EVM payments. Which members there are and what form each has is said by one list, which inspection, the test
// and the edge read as well (commerce/signed-members.ts). Only what is stricter in what we settle stands here: one spelling of each
// value, so that nobody downstream reads another payment out of it, and a bound on the signature.
import { isObject } from '../lib/json.ts'
import { isOfForm, type MemberForm, SIGNED_MEMBERS } from '../commerce/signed-members.ts'
import type { Eip3009Authorization } from './chain-ports.ts'
import { paymentInvalid } from './codec.ts'

/** The members of the list and nothing else, hex in lower case. */
export interface SignedPayload {
  readonly signature: string
  readonly authorization: Readonly<Record<keyof Eip3009Authorization, string>>
}

/** Longest signature that a contract wallet may need. */
const MAX_SIGNATURE_BYTES = 2048
const DIGITS = 'must be a string of decimal digits'

/** Forms of the list in words, for whoever has to mend one. */
const WORDS: Readonly<Partial<Record<MemberForm, string>>> = {
  signature: 'must be 0x and pairs of hex digits',
  address: 'must be an address: 0x and 40 hex digits, not all of them zero',
  word: 'must be 32 bytes: 0x and 64 hex digits, not all of them zero',
}

/** What the firewall can name of a signature. Its form has an answer of its own in x402, so firewall.ts asks the list for that one. */
const HEX_PAIRS = /^0x(?:[\da-fA-F]{2})+$/

/**
 * Reads what the list demands of a transfer by EIP-3009.
 * @param at dotted path of the payload
 * @throws {GatewayError} payment_invalid, naming the first member that is wrong
 */
export function readSigned(payload: Record<string, unknown>, at: string): SignedPayload {
  const copy: Record<string, unknown> = {}
  for (const { path, form } of SIGNED_MEMBERS.eip3009) {
    let from: unknown = payload
    let into = copy
    let place = at
    for (const [index, name] of path.entries()) {
      if (!isObject(from)) throw paymentInvalid(place, 'must be an object.')
      from = Object.hasOwn(from, name) ? from[name] : undefined
      place += `.${name}`
      if (index === path.length - 1) into[name] = spell(from, form, place)
      else into = (into[name] ??= {}) as Record<string, unknown>
    }
  }
  return copy as unknown as SignedPayload
}

/** The one spelling that is taken of a value of the right form. */
function spell(value: unknown, form: MemberForm, place: string): string {
  // The list allows JSON numbers and leading zeros, which not every reader behind us takes for the same number.
  const isReadable = typeof value === 'string' && !/^0\d/.test(value)
  if (!isReadable || !(form === 'signature' ? HEX_PAIRS.test(value) : isOfForm(value, form)))
    throw paymentInvalid(place, `${problemOf(value, form)}.`)
  if (form === 'signature' && value.length > 2 + 2 * MAX_SIGNATURE_BYTES)
    throw paymentInvalid(place, `must have at most ${MAX_SIGNATURE_BYTES} bytes.`)
  return value.toLowerCase()
}

function problemOf(value: unknown, form: MemberForm): string {
  const isNumber = form === 'uint' || form === 'amount'
  if (typeof value !== 'string') return isNumber ? DIGITS : 'must be a string'
  if (!isNumber) return WORDS[form] ?? 'cannot be what it says it is'
  if (value === '0') return 'must not be zero'
  return /^[1-9]\d{77,}$/.test(value)
    ? 'does not fit into 256 bits'
    : `${DIGITS}, without sign, point or leading zero`
}
