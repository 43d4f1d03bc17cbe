// The right to ask a provider, which one process has at a time: renewed in the store for as long as its exchange goes on, and once more right
// before anything is sent. Whoever is gone loses it soon, and whoever is slow keeps it.
import type { Logger } from '../../lib/log.ts'
import type { Store } from '../../store/ports.ts'

/** Others wait so long for a process that is gone. */
export const CLAIM_MS = 15_000
const RENEW_MS = 5_000

export interface ClaimParts {
  readonly store: Pick<Store, 'renewMintClaim'>
  readonly now: () => number
  readonly log: Logger
}

/** Somebody else may ask by now, so that nothing was sent. */
export class ClaimLost extends Error {
  constructor() {
    super('the claim of an exchange was lost')
    this.name = 'ClaimLost'
  }
}

/** Renews the claim, before a request is sent. @throws {ClaimLost} */
export type ConfirmClaim = () => Promise<void>

/** Keeps a claim for as long as `work` takes. */
export async function holdClaim<T>(
  { store, now, log }: ClaimParts,
  claimed: { readonly credentialId: string; readonly claim: string },
  work: (confirm: ConfirmClaim) => Promise<T>,
): Promise<T> {
  const renew = (at: number) => store.renewMintClaim({ ...claimed, until: at + CLAIM_MS })
  let isRenewing = false
  async function renewOnce(): Promise<void> {
    if (isRenewing) return
    isRenewing = true
    try {
      await renew(now())
    } catch (thrown) {
      log.warn({ credential: claimed.credentialId, err: thrown }, 'the claim of an exchange was not renewed')
    } finally {
      isRenewing = false
    }
  }
  const timer = setInterval(() => void renewOnce(), RENEW_MS)
  try {
    return await work(async () => {
      const at = now()
      // An answer that comes late leaves too little time until the next renewal.
      if (!(await renew(at)) || now() - at >= RENEW_MS) throw new ClaimLost()
    })
  } finally {
    clearInterval(timer)
  }
}
