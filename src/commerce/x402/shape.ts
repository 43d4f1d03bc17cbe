// A decoded document of x402 is told by its members alone: version, stage, scheme, network, and how the money moves. Inspection,
// scoring, the edge and the payment firewall recognise payments here and nowhere else. Where a document stands and whether its
// values are well-formed is decided by who decoded it.
import { CAIP_2 } from '../../../schemas/x402.ts'
import { findV1Network } from '../../core/networks.ts'
import { isObject, member } from '../decode/value.ts'

export type X402Stage = 'challenge' | 'payment' | 'settlement'

/** `several`: two readers could take two different payments from it. */
export type X402Method = 'eip3009' | 'permit2' | 'erc7710' | 'transaction' | 'several'

export interface X402Shape {
  /** A small whole number, known or not; null where it says none. */
  readonly version: number | null
  readonly stage: X402Stage | null
  /** Place of the scheme and network of a payment (v2 in `accepted`, v1 at the top). */
  readonly choiceIn: 'accepted' | 'top'
  /** Kind of signature that a payment holds. Null where there is none that is known. */
  readonly method: X402Method | null
}

/** Any value at all; never throws. */
export function readX402Shape(document: unknown): X402Shape {
  const version = readVersion(document)
  return {
    version,
    stage: readStage(document),
    // A member of another version is no part of this one, whoever put it there.
    choiceIn: version !== 1 && isObject(member(document, 'accepted')) ? 'accepted' : 'top',
    method: readMethod(member(document, 'payload')),
  }
}

/** Small whole numbers only: a version is shown, and nothing that came in may be shown by accident. */
function readVersion(document: unknown): number | null {
  const version = member(document, 'x402Version')
  return typeof version === 'number' && Number.isInteger(version) && version >= 0 && version < 100
    ? version
    : null
}

function readStage(document: unknown): X402Stage | null {
  if (typeof member(document, 'x402Version') === 'number' && Array.isArray(member(document, 'accepts')))
    return 'challenge'
  if (member(document, 'payload') !== undefined) return 'payment'
  return member(document, 'success') === undefined ? null : 'settlement'
}

/** The members that are there tell it, whatever they hold: what is malformed is refused as what it set out to be. */
function readMethod(payload: unknown): X402Method | null {
  const has = (name: string) => member(payload, name) !== undefined
  const found: X402Method[] = []
  if (has('authorization')) found.push('eip3009')
  if (has('permit2Authorization')) found.push('permit2')
  if (has('delegationManager')) found.push('erc7710')
  if (SEALED.some(has)) found.push('transaction')
  return found.length > 1 ? 'several' : (found[0] ?? null)
}

/** What the chains of other families sign as a whole: a transaction, a block of Keeta, a group of Algorand. */
export const SEALED = ['transaction', 'block', 'paymentGroup'] as const

/** A facilitator is asked about a payment, and beside it the requirement that the seller holds against it. */
export const isFacilitatorRequest = (body: unknown): boolean =>
  member(body, 'paymentPayload') !== undefined &&
  (member(body, 'paymentRequirements') !== undefined || typeof member(body, 'x402Version') === 'number')

/** CAIP-2 of a network by its name of either version; null where it has none. */
export const toCaip2 = (name: string): string | null =>
  CAIP_2.test(name) ? name : (findV1Network(name) ?? null)

/** A word makes an authorization unique: 32 bytes of EIP-3009, a uint256 of Permit2. */
export const WORD = /^0x[0-9a-fA-F]{64}$/
export const ADDRESS = /^0x[0-9a-fA-F]{40}$/
