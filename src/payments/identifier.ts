// The name under which a buyer may ask again for what was paid: the payment-identifier of x402, else the caller's idempotency key.
// Of a payer's payments for one tool under one name one is taken, and who can show the name again gets its result.
import { hash } from 'node:crypto'
import type { PaidCall } from '../core/charging.ts'
import { readIdentifier } from './extensions.ts'
import type { Payment } from './ports.ts'
import { isUnguessable } from './secrets.ts'

export interface Identifier {
  /** As the claim is stored with it. */
  readonly text: string
  /** Nobody but the buyer can know it, so that it opens the stored result. */
  readonly isSecret: boolean
  /** It is the idempotency key of the call. */
  readonly isKey: boolean
}

/**
 * The payment itself is the stronger word: where it names an identifier, the key is not asked. A key is stored as its digest, in
 * the characters of an identifier.
 * @throws {GatewayError} payment_invalid where the payment's identifier is none
 */
export function identifierOf(
  { idempotencyKey }: Pick<PaidCall, 'idempotencyKey'>,
  payment: Pick<Payment, 'extensions'>,
): Identifier | null {
  const own = readIdentifier(payment)
  if (own !== null) return { text: own, isSecret: isUnguessable(own), isKey: false }
  if (idempotencyKey === undefined) return null
  return {
    text: `key-${hash('sha256', `idempotency key ${idempotencyKey}`, 'base64url')}`,
    isSecret: isUnguessable(idempotencyKey),
    isKey: true,
  }
}
