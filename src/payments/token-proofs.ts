// Decides on which networks payments are taken: where the chain itself proved the token. Every network is asked at the start,
// again and again until it has answered, at every return of its node, and from time to time: a proxy may change its code.
import type { NetworkRegistry, PaymentNetwork } from '../core/networks.ts'
import type { Logger } from '../lib/log.ts'

/** The verdict on one token; `isFinal` where its chain has answered, and the answer does not fit. */
export type TokenVerdict =
  | { readonly ok: true; readonly name: string; readonly version: string }
  | { readonly ok: false; readonly isFinal: boolean; readonly why: string }

export interface TokenProofs {
  /**
   * Asks every chain once. One that is away is asked again later, and nothing is taken on it meanwhile.
   * @returns the networks whose token is not what it must be, with the reason
   */
  start(): Promise<readonly { readonly network: PaymentNetwork; readonly why: string }[]>
  /** A node is back after a failure, and it may be another one. */
  recheck(network: string): void
  close(): void
}

export interface TokenProofParts {
  readonly networks: NetworkRegistry
  /** CAIP-2 ids of those that have to be proven. */
  readonly asked: readonly string[]
  /** Never throws for what a chain says or does not say. */
  readonly prove: (network: PaymentNetwork) => Promise<TokenVerdict>
  readonly log: Logger
}

const RETRY_MS = 5_000
const MAX_RETRY_MS = 60_000
/** A proxy that gets other code in between is found after this time at the latest. Providers count requests. */
const PROVE_EVERY_MS = 10 * 60_000

/** Until `start` has asked, no network of `asked` is taken. */
export function createTokenProofs({ networks, asked, prove, log }: TokenProofParts): TokenProofs {
  const timers = new Map<string, NodeJS.Timeout>()
  const running = new Map<string, Promise<TokenVerdict>>()
  const failures = new Map<string, number>()
  let isClosed = false
  for (const id of asked) networks.report(id, { ok: false, why: 'its token has not been proven yet' })

  function checkNow(id: string): Promise<TokenVerdict> {
    const known = running.get(id)
    if (known) return known
    const fresh = check(id).finally(() => running.delete(id))
    running.set(id, fresh)
    return fresh
  }

  async function check(id: string): Promise<TokenVerdict> {
    clearTimeout(timers.get(id))
    const network = networks.find(id)
    const verdict: TokenVerdict = network
      ? await prove(network)
      : { ok: false, isFinal: true, why: 'is not configured' }
    const before = networks.hindrance(id)
    // A node that is away for a moment takes nothing back: what it would be asked fails by itself.
    if (verdict.ok || verdict.isFinal || before !== undefined) networks.report(id, verdict)
    if (verdict.ok) {
      failures.delete(id)
      if (before !== undefined) log.info({ network: id, asset: network?.asset.address }, 'token proven')
    } else {
      failures.set(id, (failures.get(id) ?? 0) + 1)
      const fields = { network: id, reason: verdict.why }
      if (verdict.isFinal && before !== verdict.why)
        log.error(fields, 'the token of a network is not what it must be: no payment is taken there')
      else if (failures.get(id) === 1)
        log.warn(fields, 'the token of a network is not proven: its node is asked again')
    }
    schedule(id, verdict)
    return verdict
  }

  function schedule(id: string, { ok }: TokenVerdict): void {
    if (isClosed) return
    const retryMs = RETRY_MS * 2 ** Math.min(8, (failures.get(id) ?? 1) - 1)
    const timer = setTimeout(() => ask(id), ok ? PROVE_EVERY_MS : Math.min(MAX_RETRY_MS, retryMs))
    timer.unref()
    timers.set(id, timer)
  }

  function ask(id: string): void {
    if (isClosed) return
    checkNow(id).catch((thrown: unknown) => {
      log.error({ err: thrown, network: id }, 'a token could not be proven')
      schedule(id, { ok: false, isFinal: false, why: '' })
    })
  }

  return {
    async start() {
      const verdicts = await Promise.all(asked.map(async (id) => ({ id, verdict: await checkNow(id) })))
      return verdicts.flatMap(({ id, verdict }) => {
        const network = networks.find(id)
        return network && !verdict.ok && verdict.isFinal ? [{ network, why: verdict.why }] : []
      })
    },
    recheck(id) {
      if (asked.includes(id)) ask(id)
    },
    close() {
      isClosed = true
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}
