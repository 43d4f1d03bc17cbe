// Issues one-time tokens that top an account up: a 402 for credits hands them out, so that whoever pays need not hold a
// token of the account. Signed by this installation, short-lived; that each is used once is the store's business.
import { randomBytes } from 'node:crypto'
import { GatewayError } from '../core/errors.ts'
import { JWS_TYPES } from '../receipts/types.ts'
import type { Signer } from '../receipts/ports.ts'

export interface TopUpToken {
  /** 128 random bits. */
  readonly id: string
  readonly accountId: string
  /** The credits that the refused call needs. */
  readonly minimum: number
}

const LIFETIME_MS = 15 * 60 * 1000
const MAX_CHARS = 2048

/** @param parts.verifyOwn opens a JWS that this installation signed, or gives undefined */
export function createTopUpTokens(parts: {
  readonly signer: Signer
  readonly verifyOwn: (jws: string, typ: string) => Readonly<Record<string, unknown>> | undefined
  readonly baseUrl: string
  readonly now: () => number
}) {
  const { signer, verifyOwn, baseUrl, now } = parts
  return {
    issue(accountId: string, minimum: number): { jws: string; expiresAt: number } {
      const issuedAt = now()
      const expiresAt = issuedAt + LIFETIME_MS
      const payload = {
        iss: baseUrl,
        account: accountId,
        minimum,
        jti: randomBytes(16).toString('base64url'),
        iat: Math.floor(issuedAt / 1000),
        exp: Math.floor(expiresAt / 1000),
      }
      return { jws: signer.sign(JWS_TYPES.topUp, payload), expiresAt: payload.exp * 1000 }
    },

    /** @throws {GatewayError} input_invalid; state_conflict when it has expired */
    open(text: string): TopUpToken {
      const payload = text.length > MAX_CHARS ? undefined : verifyOwn(text, JWS_TYPES.topUp)
      // Two gateways may share a key and not their accounts.
      if (payload?.['iss'] !== baseUrl) throw refused('is not one that this gateway signed')
      const { jti, account, minimum, exp } = payload
      if (typeof exp !== 'number' || exp * 1000 <= now())
        throw new GatewayError(
          'state_conflict',
          'This account_reference has expired. Repeat the call that was refused and use the offer of its 402.',
          { reason: 'reference_expired', extras: { state: 'expired' } },
        )
      return { id: String(jti), accountId: String(account), minimum: Number(minimum) }
    },
  }
}

const refused = (why: string) =>
  new GatewayError('input_invalid', `The account_reference ${why}.`, {
    reason: 'reference_refused',
    extras: { fields: [{ pointer: '/account_reference', message: why }] },
  })
