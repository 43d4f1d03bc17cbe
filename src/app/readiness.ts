// Decides whether calls should come to this process, and says what cannot be done. A part that every call needs makes it unready; a part
// that some calls need does not: every replica has the same chains, facilitators and key file, so that one of those would take all of them away,
// with everything that still works.
import type { ReadinessReport, Trouble } from '../documents/probes.ts'
import type { Readiness } from '../doors/http/probes.ts'
import type { Chain } from '../payments/chain-ports.ts'
import type { UpstreamState } from '../payments/ports.ts'
import type { AuthorityWatch } from './authority-watch.ts'
import type { PartState } from './health.ts'

/** However often probes come, the parts are asked once in this time. */
const FRESH_MS = 1000
/** A database that has no answer within it is of no use to calls either; most probes are less patient than the database. */
const PATIENCE_MS = 2000

export interface OpenReadiness extends Readiness {
  /** Every report is `unready` from here on; calls are answered all the same. */
  drain(): void
}

export interface ReadinessParts {
  readonly store: { health(): Promise<{ readonly ok: boolean }> }
  readonly authority: AuthorityWatch
  readonly resolver: { state(): PartState }
  /** Undefined: nobody can pay. */
  readonly payTo: string | undefined
  readonly router: { states(): readonly Pick<UpstreamState, 'state' | 'settlers'>[] }
  readonly chains: ReadonlyMap<string, Pick<Chain, 'state'>>
  /** Milliseconds that pass, from a clock that nobody sets. */
  readonly elapsedMs: () => number
}

/** @returns what `/readyz` answers; many who ask at once are one question to the database */
export function createReadiness(parts: ReadinessParts): OpenReadiness {
  const { store, elapsedMs } = parts
  let isDraining = false
  let known: { readonly at: number; readonly failing: readonly Trouble[] } | undefined
  let asking: Promise<readonly Trouble[]> | undefined
  /** A question that was not waited for to its end is not put a second time beside itself. */
  let question: Promise<boolean> | undefined

  async function isStoreThere(): Promise<boolean> {
    question ??= store
      .health()
      .then(
        ({ ok }) => ok,
        () => false,
      )
      .finally(() => (question = undefined))
    return within(PATIENCE_MS, question)
  }

  async function examine(): Promise<readonly Trouble[]> {
    const { authority } = parts
    const [isThere] = await Promise.all([
      isStoreThere(),
      // It asks the database as well: one that hangs says nothing of the keys.
      within(
        PATIENCE_MS,
        authority.look().then(() => true),
      ),
    ])
    const failing: Trouble[] = []
    if (!isThere)
      failing.push({
        part: 'database',
        cannot: 'answer any call: the database does not answer, or takes no writes',
      })
    if (authority.state() === 'failing')
      failing.push({
        part: 'authority',
        cannot:
          'open or store a credential: the key service does not do what it is asked, or the key file lacks the key in use; the log says which',
      })
    known = { at: elapsedMs(), failing }
    return failing
  }

  async function failingNow(): Promise<readonly Trouble[]> {
    if (known && elapsedMs() - known.at < FRESH_MS) return known.failing
    asking ??= examine().finally(() => (asking = undefined))
    return asking
  }

  return {
    drain() {
      isDraining = true
    },
    async report(): Promise<ReadinessReport> {
      // While it drains nobody waits for a database that may be going down as well.
      const failing = isDraining ? [DRAINING] : await failingNow()
      return { status: failing.length > 0 ? 'unready' : 'ready', failing, degraded: degradedIn(parts) }
    },
  }
}

const DRAINING: Trouble = { part: 'draining', cannot: 'take new work: the gateway is shutting down' }

/** What some callers miss; nothing is asked for it. A facilitator is named by its place in the list, as its address may hold a key. */
function degradedIn({ authority, payTo, router, chains, resolver }: ReadinessParts): Trouble[] {
  const troubles: Trouble[] = []
  if (authority.state() === 'file_unusable')
    troubles.push({
      part: 'authority',
      cannot:
        'store a credential: the key file is not the one in use; the log says why. What is stored opens',
    })
  const facilitators = router.states()
  if (payTo === undefined)
    troubles.push({ part: 'payments', cannot: 'take payments for paid tools: GATEWAY_PAY_TO is not set' })
  if (facilitators.length === 0)
    troubles.push({
      part: 'payments',
      cannot: 'settle payments: there is neither a facilitator nor a settler',
    })
  else if (facilitators.every(({ state }) => state === 'failing'))
    troubles.push({ part: 'payments', cannot: 'take any payment: every facilitator fails' })
  for (const [i, { state, settlers = [] }] of facilitators.entries()) {
    if (state === 'failing')
      troubles.push({
        part: 'facilitator',
        cannot: `settle through facilitator ${i + 1} of ${facilitators.length}`,
      })
    for (const settler of settlers)
      if (settler.state === 'out_of_gas' || settler.state === 'stuck')
        troubles.push({
          part: 'settler',
          network: settler.network,
          cannot: `settle with one of the accounts on ${settler.network}: it is ${settler.state === 'stuck' ? 'stuck' : 'out of gas'}`,
        })
  }
  for (const [network, chain] of chains)
    if (chain.state().state === 'failing')
      troubles.push({ part: 'chain', network, cannot: `take payments on ${network}` })
  if (resolver.state().state === 'failing')
    troubles.push({ part: 'resolver', cannot: 'reach hosts by their names' })
  return troubles
}

async function within(ms: number, answer: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
