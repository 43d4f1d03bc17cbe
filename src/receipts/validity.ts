// Decides what a signature still proves once its key was retired or revoked: the same rule here and for whoever verifies
// with the published keys.

export interface KeyValidity {
  /** Milliseconds since the epoch; null while the key signs. */
  readonly retiredAt: number | null
  /** Milliseconds since the epoch; null unless the private half may be in other hands. */
  readonly revokedAt: number | null
}

export type Invalidity = 'key_revoked' | 'issued_after_retirement'

/**
 * A revoked key proves nothing, however old the document: whoever stole it writes any date. A retired one proves what was
 * issued until then. That a document is older than its key's publication says nothing: clocks differ, and a receipt of a
 * settlement carries the settlement's moment.
 * @param payload of the document; one that names no moment of issue is not judged by it
 */
export function findInvalidity(
  { retiredAt, revokedAt }: KeyValidity,
  payload: Readonly<Record<string, unknown>>,
): Invalidity | undefined {
  if (revokedAt !== null) return 'key_revoked'
  if (retiredAt === null) return undefined
  // RFC 7519 4.1.6, and the member of x402 receipts; both in whole seconds.
  const issuedAt = payload['iat'] ?? payload['issuedAt']
  return typeof issuedAt === 'number' && issuedAt * 1000 > retiredAt ? 'issued_after_retirement' : undefined
}

/**
 * A moment as the key document writes it: RFC 3339, null or left out where there is none.
 * @returns milliseconds since the epoch. A moment that cannot be read is the earliest there is: a key of unknown validity proves
 * nothing younger
 */
export const toMoment = (moment: unknown): number | null =>
  moment === undefined || moment === null ? null : (typeof moment === 'string' && Date.parse(moment)) || 0
