// Decides which upstream facilitator takes a payment, from what each one says it takes, what it costs and how its last
// calls ended. Nothing runs in the background: an upstream is asked when somebody wants to know.
import { setTimeout as sleep } from 'node:timers/promises'
import type { SupportedKind, SupportedResponse } from '../../schemas/x402.ts'
import type { Logger } from '../lib/log.ts'
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'
import { findV1Network } from '../core/networks.ts'
import type { Route, Router, SettlerState, Upstream, UpstreamState } from './ports.ts'
import type { Networks } from '../core/networks.ts'
import { isFresh } from '../lib/fresh.ts'

export interface RouterParts {
  readonly upstreams: readonly Upstream[]
  readonly networks: Networks
  readonly now: () => number
  readonly log: Logger
}

const SUPPORTED_DEADLINE_MS = 5_000
/** An answer is used for so long; for so long again while a new one is fetched. */
const FRESH_MS = 30_000
const FAILED_FRESH_MS = 3_000
/** Whoever did not fail the last time has so long beside one that serves: it may be the cheaper one, or our own. */
const COMPANY_MS = 2_000
/** Weight of the latest call in the moving average of latency. */
const WEIGHT = 0.3

interface Known {
  readonly upstream: Upstream
  /** One breaker is for the upstream as a whole, the others are for `scheme network`. */
  readonly breaker: CircuitBreaker
  readonly kindBreakers: Map<string, CircuitBreaker>
  answer: { readonly at: number; readonly supported: SupportedResponse | undefined } | undefined
  asking: Promise<SupportedResponse | undefined> | undefined
  observedAt: number | undefined
  latencyMs: number | null
}

/** @param parts.upstreams in no order: routes are sorted by fee, health and latency */
export function createRouter({ upstreams, networks, now, log }: RouterParts): Router {
  const all: Known[] = upstreams.map((upstream) => ({
    upstream,
    breaker: createCircuitBreaker(),
    kindBreakers: new Map(),
    answer: undefined,
    asking: undefined,
    observedAt: undefined,
    latencyMs: null,
  }))

  /** CAIP-2 id of a network that we route, or undefined: a chain of ours, or Solana, which an upstream judges. */
  function toRouted(name: string): string | undefined {
    const caip2 = findV1Network(name) ?? name
    return networks.find(caip2)?.network ?? (/^solana:\w{1,32}$/.test(caip2) ? caip2 : undefined)
  }

  /** On our own chains only what is checked here; on others an upstream's word is all there is, and /facilitator says so. */
  const isOffered = ({ scheme, network }: SupportedKind): boolean => {
    const routed = toRouted(network)
    return routed !== undefined && (scheme === 'exact' || networks.find(routed) === undefined)
  }

  /** Whatever a facilitator says that it takes: nothing is settled in a token that its chain has not proven. */
  const isServed = (network: string) => networks.hindrance(toRouted(network) ?? network) === undefined

  /** @param isLook of somebody who only watches: what fails then keeps no buyer away later */
  async function ask(known: Known, isLook = false): Promise<SupportedResponse | undefined> {
    const startedAt = now()
    let supported: SupportedResponse | undefined
    try {
      const answer = await known.upstream.supported(SUPPORTED_DEADLINE_MS)
      supported = { ...answer, kinds: answer.kinds.filter(isOffered) }
      known.latencyMs ??= now() - startedAt
    } catch (thrown) {
      log.warn({ upstream: known.upstream.id, err: thrown }, 'a facilitator does not say what it takes')
    }
    if (isLook && supported === undefined) return undefined
    const at = now()
    known.answer = { at, supported }
    known.observedAt = at
    known.breaker.record(supported !== undefined, at)
    return supported
  }

  /** The kinds that it takes now; undefined when it is not alive. Concurrent askers share one question. */
  async function supportedOf(known: Known): Promise<SupportedResponse | undefined> {
    const { answer } = known
    if (answer && isFresh(answer.at, now(), answer.supported ? FRESH_MS : FAILED_FRESH_MS))
      return answer.supported
    // An upstream that keeps failing is asked again when its breaker lets a probe through.
    if (answer && !answer.supported && known.breaker.state(now()) === 'open') return undefined
    known.asking ??= ask(known).finally(() => (known.asking = undefined))
    // A stale answer still serves while a new one is fetched.
    return answer?.supported && isFresh(answer.at, now(), FRESH_MS * 2) ? answer.supported : known.asking
  }

  /**
   * What each upstream that is alive brings, in their order. Where one brings something, whoever failed the last time is not waited for: one
   * that hangs would hold up every buyer for the whole deadline, again and again.
   * @param patienceMs for those who did not fail the last time
   */
  async function fromEach<T>(
    patienceMs: number,
    bring: (known: Known, supported: SupportedResponse) => T | undefined,
  ): Promise<readonly T[]> {
    const { promise: enough, resolve: haveOne } = Promise.withResolvers<void>()
    const brought: (T | undefined)[] = []
    const asked = all.map(async (known, i) => {
      const supported = await supportedOf(known)
      const one = supported && bring(known, supported)
      if (one === undefined) return
      brought[i] = one
      haveOne()
    })
    const hopeful = asked.filter((_, i) => !hasFailed(all[i]!))
    const patient = enough.then(() =>
      Promise.race([Promise.all(hopeful), sleep(patienceMs, undefined, { ref: false })]),
    )
    await Promise.race([Promise.all(asked), patient])
    return brought.filter((one) => one !== undefined)
  }

  function breakerOf(known: Known, scheme: string, network: string): CircuitBreaker {
    const key = `${scheme} ${network}`
    let breaker = known.kindBreakers.get(key)
    if (!breaker) known.kindBreakers.set(key, (breaker = createCircuitBreaker()))
    return breaker
  }
  /** Health of a kind: the worse of its own and of its upstream's. */
  function stateOfKind(known: Known, kind: SupportedKind) {
    const at = now()
    const states = [
      known.breaker.state(at),
      breakerOf(known, kind.scheme, toRouted(kind.network) ?? kind.network).state(at),
    ]
    return states.includes('open') ? 'open' : states.includes('half_open') ? 'half_open' : 'closed'
  }

  /** What is worked on already is routed all the same, so that only who asks what is taken is told. */
  const isBusy = ({ upstream }: Known, { network }: SupportedKind): boolean =>
    upstream.isBusy?.(toRouted(network) ?? network) === true

  return {
    async routes({ x402Version, scheme, network }) {
      const wanted = toRouted(network)
      if (wanted === undefined || !isServed(wanted)) return []
      const found = await fromEach(
        COMPANY_MS,
        (known, supported): (Route & { isProbe: boolean }) | undefined => {
          const kinds = supported.kinds.filter(
            (kind) => kind.scheme === scheme && toRouted(kind.network) === wanted,
          )
          // An upstream is spoken to in a version it knows: the buyer's where it can, else the newest.
          const kind =
            kinds.find((one) => one.x402Version === x402Version) ??
            kinds.toSorted((a, b) => b.x402Version - a.x402Version)[0]
          if (!kind) return undefined
          const state = stateOfKind(known, kind)
          if (state === 'open') return undefined
          const isProbe = state === 'half_open'
          return { upstream: known.upstream, kind, latencyMs: known.latencyMs, isProbe }
        },
      )
      return found
        .toSorted(
          (a, b) =>
            compare(a.upstream.feeAtomic, b.upstream.feeAtomic) ||
            compare(Number(a.isProbe), Number(b.isProbe)) ||
            compare(a.latencyMs ?? Infinity, b.latencyMs ?? Infinity),
        )
        .map(({ isProbe: _isProbe, ...route }) => route)
    },

    async supported() {
      // Sellers ask once, when they start, and go by what is there: nobody who may be well is left out for being slow.
      const answers = await fromEach(SUPPORTED_DEADLINE_MS, (known, is) => {
        const alive = is.kinds.filter((kind) => stateOfKind(known, kind) !== 'open' && isServed(kind.network))
        return alive.length > 0 ? { is, alive } : undefined
      })
      const kinds = new Map<string, SupportedKind>()
      const extensions = new Set<string>()
      const signers = new Map<string, Set<string>>()
      for (const { is, alive } of answers) {
        for (const kind of alive) {
          const key = `${kind.x402Version} ${kind.scheme} ${kind.network}`
          if (!kinds.has(key)) kinds.set(key, kind)
        }
        for (const extension of is.extensions) extensions.add(extension)
        for (const [family, addresses] of Object.entries(is.signers)) {
          const known = signers.get(family) ?? new Set()
          for (const address of addresses) known.add(address)
          signers.set(family, known)
        }
      }
      return {
        kinds: [...kinds.values()],
        extensions: [...extensions],
        signers: Object.fromEntries([...signers].map(([family, addresses]) => [family, [...addresses]])),
      }
    },

    states: () => all.map((known) => describe(known, now())),

    report(upstreamId, { ok, ms, kind }) {
      const known = all.find(({ upstream }) => upstream.id === upstreamId)
      if (!known) return
      const at = now()
      known.observedAt = at
      if (ok) known.latencyMs = known.latencyMs === null ? ms : known.latencyMs * (1 - WEIGHT) + ms * WEIGHT
      const network = kind && toRouted(kind.network)
      if (kind && network !== undefined) breakerOf(known, kind.scheme, network).record(ok, at)
      // An answer of any kind proves that the upstream is there; the failure of one kind says nothing of the others.
      if (ok || !kind) known.breaker.record(ok, at)
    },

    async look() {
      const stale = all.filter(({ answer }) => !answer || !isFresh(answer.at, now(), FAILED_FRESH_MS))
      await Promise.all(
        stale.map((known) => (known.asking ??= ask(known, true).finally(() => (known.asking = undefined)))),
      )
    },

    async close() {
      await Promise.all(upstreams.map((upstream) => upstream.close()))
    },
  }

  function describe(known: Known, at: number): UpstreamState {
    const { upstream, answer, breaker, observedAt, latencyMs } = known
    const kinds = answer?.supported?.kinds ?? []
    const unbroken = kinds.filter((kind) => stateOfKind(known, kind) !== 'open')
    const alive = unbroken.filter((kind) => !isBusy(known, kind))
    const broken = networksOf(kinds.filter((kind) => !unbroken.includes(kind)))
    const busy = networksOf(unbroken.filter((kind) => !alive.includes(kind)))
    const worst = [breaker, ...known.kindBreakers.values()].map((one) => one.state(at))
    const settlers = upstream.settlers?.()
    const base = {
      id: upstream.id,
      url: upstream.url,
      age_ms: observedAt === undefined ? null : at - observedAt,
      kinds: alive,
      latency_ms: latencyMs === null ? null : Math.round(latencyMs * 10) / 10,
      breaker: (worst.includes('open') ? 'open' : worst.includes('half_open') ? 'half_open' : 'closed') as
        'open' | 'half_open' | 'closed',
      ...(settlers && { settlers }),
    }
    if (!answer) return { ...base, state: 'unknown', detail: 'not asked yet' }
    const troubles = [
      ...(settlers ?? []).flatMap(describeTrouble),
      ...busy.map((network) => `has more to send on ${network} than it can in time`),
    ]
    const inAll = (words: string) => [words, ...troubles].join('; ')
    if (!answer.supported) return { ...base, state: 'failing', detail: inAll('does not say what it takes') }
    if (unbroken.length === 0)
      return {
        ...base,
        state: 'failing',
        detail: kinds.length === 0 ? 'takes nothing that we route' : 'its last calls failed',
      }
    if (broken.length > 0)
      return { ...base, state: 'failing', detail: `its last calls failed on ${broken.join(', ')}` }
    return { ...base, state: 'ok', detail: inAll(`takes ${alive.length} kinds of payment`) }
  }
}

const TROUBLES = {
  ok: undefined,
  unknown: undefined,
  low_on_gas: 'is low on gas',
  out_of_gas: 'is out of gas',
  stuck: 'waits for a transaction that is not mined',
} as const satisfies Record<SettlerState['state'], string | undefined>

function describeTrouble({ address, network, state }: SettlerState): string[] {
  const trouble = TROUBLES[state]
  return trouble === undefined ? [] : [`${address} on ${network} ${trouble}`]
}

const hasFailed = ({ answer }: Known) => answer !== undefined && !answer.supported

const networksOf = (kinds: readonly SupportedKind[]) => [...new Set(kinds.map(({ network }) => network))]
const compare = (a: number | bigint, b: number | bigint) => (a < b ? -1 : a > b ? 1 : 0)
