// Whether the word that a request goes out on still holds when its first byte would leave. The transaction that reserved it asked; between that and
// the first byte a name may be resolved, a token minted and a connection made, each of which may take seconds.
import type { CreditCharge } from '../core/credit-charge.ts'
import type { GatewayError } from '../core/errors.ts'
import type { SealedCredential, Store } from '../store/ports.ts'
import type { Grant } from './grant.ts'
import type { FindWithdrawal } from './ports.ts'
import { credentialReplaced, isReplaced, withdrawalUnknown } from './refusals.ts'
import { isFresh } from '../lib/fresh.ts'

/**
 * Younger than this, what was read counts as it stands. A request on a connection that is open takes a few milliseconds, and asks nothing twice; a
 * revocation that was answered 50 ms ago may be one that the request had overtaken as well.
 */
const FRESH_MS = 50

/**
 * A call whose credential is replaced before its first byte leaves begins anew, once, with what stands now: whoever rotates a secret
 * fails nobody's call. Its first attempt has to be refunded on record by then.
 */
export async function againIfReplaced<T>(
  charge: Pick<CreditCharge, 'returned'>,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call()
  } catch (thrown) {
    if (!isReplaced(thrown) || !('credits' in thrown.extras)) throw thrown
    charge.returned()
    return await call()
  }
}

/** Whether the credential, at its version, and the word of the grant stand: what the reservation asked, without its locks. */
export async function findWithdrawal(
  store: Pick<Store, 'getCredential'>,
  grant: Pick<Grant, 'findWithdrawal' | 'credentialGone' | 'credentialReplaced'>,
  { id, accountId, version }: Pick<SealedCredential, 'id' | 'accountId' | 'version'>,
): Promise<GatewayError | undefined> {
  const [credential, ended] = await Promise.all([
    store.getCredential(id, accountId),
    grant.findWithdrawal?.(),
  ])
  if (!credential || credential.revokedAt !== null) return grant.credentialGone()
  if (ended || credential.version === version) return ended
  return grant.credentialReplaced?.() ?? credentialReplaced()
}

/**
 * Asks only where time has passed since this was called. What cannot be asked is no yes.
 * @param find undefined where nothing can be withdrawn
 * @returns for the sender; it never rejects
 */
export function findLateWithdrawal(now: () => number, find: FindWithdrawal | undefined): FindWithdrawal {
  const since = now()
  return async () => {
    if (!find || isFresh(since, now(), FRESH_MS)) return undefined
    try {
      return await find()
    } catch (cause) {
      return withdrawalUnknown(cause)
    }
  }
}
