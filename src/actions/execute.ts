// Executing a permit: whose row it is, whether it still may be, and then one attempt of the engine of every fetch.
import { GatewayError } from '../errors.ts'
import { JWS_TYPES } from '../receipts/types.ts'
import type { Actions } from '../services.ts'
import type { Permit } from '../store/ports.ts'
import { findRevocation, isPast, readGrounds } from './grounds.ts'
import { hashPermit, isSameHash, readClaims } from './permits.ts'
import type { ActionParts } from './ports.ts'
import { permitExpired, permitInvalid, permitRevoked } from './refusals.ts'
import { findConflict, permitWarrant } from './warrant.ts'

/**
 * No signature is checked where there is a row: it holds the hash of the bytes that were signed, and nobody else can have
 * made those. One indexed read, however many permits there ever were.
 */
export function createExecute(parts: ActionParts): Actions['execute'] {
  const { store, forward, now } = parts

  return async ({ permit: jws, request }) => {
    const claims = readClaims(jws)
    if (!claims) throw permitInvalid()
    const row = await store.getPermit(claims.jti)
    if (!row) throw parts.verifyOwn(jws, JWS_TYPES.permit) ? permitExpired(claims.jti) : permitInvalid()
    if (!isSameHash(hashPermit(jws), row.tokenSha256)) throw permitInvalid()
    const conflict = findConflict(row, now())
    if (conflict) throw (await findRevoked(row)) ?? conflict
    try {
      return {
        ...(await forward.send(request, permitWarrant(store, row, claims.request))),
        permit_id: row.id,
      }
    } catch (thrown) {
      throw thrown instanceof GatewayError ? withPermit(thrown, row.id) : thrown
    }
  }

  /** Waiting for a person is of no use where their yes would be: only asked off the path that is taken in earnest. */
  async function findRevoked(row: Permit): Promise<GatewayError | undefined> {
    if (row.state !== 'pending_approval' || isPast(row, now())) return undefined
    const grounds = await readGrounds(store, row.accountId, [row])
    const why = findRevocation(row, grounds(row))
    return why && permitRevoked(row.id, why)
  }
}

/** Once there is an attempt, whatever became of it, the permit is used up: advice to try again needs another one. */
function withPermit(error: GatewayError, permitId: string): GatewayError {
  if (error.extras.attempt_id === undefined || error.extras['conflict'] !== undefined) return error
  const { code, message, reason, cause, payment } = error
  return new GatewayError(
    code,
    `${message} The permit is used up: to send this again, ask the operator for a new one.`,
    {
      cause,
      extras: { ...error.extras, permit_id: permitId },
      ...(reason !== undefined && { reason }),
      ...(payment && { payment }),
    },
  )
}
