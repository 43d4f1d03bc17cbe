// The row of a permit that somebody shows. No signature is checked where there is a row: it holds the hash of the bytes that were signed, and
// nobody else can have made those. One indexed read, however many permits there ever were.
import type { Permit } from '../store/ports.ts'
import { JWS_TYPES } from '../receipts/types.ts'
import { hashPermit, isSameHash, readClaims } from './permits.ts'
import type { ActionParts } from './ports.ts'
import { permitExpired, permitInvalid } from './refusals.ts'

/**
 * Makes the function that finds the row of a compact JWS. It throws {GatewayError} permit_invalid where these bytes were not signed here,
 * permit_expired where they were and the row is gone.
 */
export function createFindShown({
  store,
  verifyOwn,
}: Pick<ActionParts, 'store' | 'verifyOwn'>): (jws: string) => Promise<Permit> {
  return async (jws) => {
    const claims = readClaims(jws)
    if (!claims) throw permitInvalid()
    const row = await store.getPermit(claims.jti)
    if (!row) throw verifyOwn(jws, JWS_TYPES.permit) ? permitExpired(claims.jti) : permitInvalid()
    if (!isSameHash(hashPermit(jws), row.tokenSha256)) throw permitInvalid()
    return row
  }
}
