// Checks the extensions that a buyer sends back: nothing is changed, and perhaps an identifier is added.
import { isDeepStrictEqual } from 'node:util'
import { GatewayError } from '../core/errors.ts'
import { isObject } from '../lib/json.ts'
import { OFFER_RECEIPT } from './offers.ts'
import type { Payment } from './ports.ts'

export const PAYMENT_IDENTIFIER = 'payment-identifier'
/** The extension in which a challenge of the market says who sells, and who gets what of the price. */
export const MARKETPLACE_EXTENSION = 'marketplace'

/** An identifier is optional: a buyer who sends one can ask again, and gets the same bytes. */
export const IDENTIFIER_EXTENSION = {
  info: { required: false },
  schema: {
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
    },
    required: ['required'],
  },
} as const

/** The form for a place where every byte counts: the protocol itself says what an identifier looks like. */
export const IDENTIFIER_IN_SHORT = { info: { required: false }, schema: { type: 'object' } } as const

/** @throws {GatewayError} payment_invalid when there is one that is not 16 to 128 of the allowed characters */
export function readIdentifier({ extensions }: Pick<Payment, 'extensions'>): string | null {
  const id = infoOf(valueOf(extensions, PAYMENT_IDENTIFIER))?.['id']
  if (id === undefined) return null
  if (typeof id !== 'string' || !/^[a-zA-Z0-9_-]{16,128}$/.test(id))
    throw new GatewayError(
      'payment_invalid',
      'The payment identifier must be 16 to 128 characters of A-Z, a-z, 0-9, "-" and "_".',
      { reason: 'payment_identifier', extras: { invalid_reason: 'invalid_payment_identifier' } },
    )
  return id
}

/**
 * Members of `info` that are signed anew for each challenge: an echo of an earlier one is as good. So it is of how a price is shared, which
 * the buyer has no part in.
 */
const DYNAMIC: Readonly<Record<string, readonly string[]>> = {
  [OFFER_RECEIPT]: ['offers', 'challenge'],
  [MARKETPLACE_EXTENSION]: ['allocation'],
}

/** Name of the first extension whose echo changes or drops what we advertised; undefined when all is well. */
export function findChangedEcho(
  advertised: Readonly<Record<string, unknown>>,
  echoed: Readonly<Record<string, unknown>>,
): string | undefined {
  return Object.keys(echoed).find((key) => {
    const ours = infoOf(valueOf(advertised, key))
    if (!ours) return false
    const theirs = infoOf(valueOf(echoed, key))
    return Object.entries(ours).some(
      ([name, value]) => !DYNAMIC[key]?.includes(name) && !includes(theirs && valueOf(theirs, name), value),
    )
  })
}

/** Objects may have gained members; everything else is equal. */
function includes(theirs: unknown, ours: unknown): boolean {
  if (!isObject(ours) || !isObject(theirs)) return isDeepStrictEqual(theirs, ours)
  return Object.entries(ours).every(([name, value]) => includes(valueOf(theirs, name), value))
}

const valueOf = (object: Readonly<Record<string, unknown>>, name: string) =>
  Object.hasOwn(object, name) ? object[name] : undefined

function infoOf(extension: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(extension)) return undefined
  const info = valueOf(extension, 'info')
  return isObject(info) ? info : undefined
}
