// Answers /healthz: state, latency and age of everything the gateway stands on. It is 200 while the process serves;
// a sick part is reported in words, so that a load balancer does not take away the one page that explains the trouble.
import { API_VERSION, CATALOGUE_VERSION, type Config, EGRESS_VERSION } from '../core/config.ts'
import type { Resolver } from '../egress/ports.ts'
import { ResolveError } from '../egress/ports.ts'
import type { AnalyserLoad } from '../outcomes/ports.ts'
import type { Chain } from '../payments/chain-ports.ts'
import type { Router } from '../payments/ports.ts'
import type { Health } from '../../tools/services.ts'
import type { Store } from '../store/ports.ts'

export interface PartState {
  /** `unknown` until the part was first used. */
  readonly state: 'ok' | 'failing' | 'unknown'
  readonly detail: string
  /** Milliseconds since this was observed; null when it never was. */
  readonly age_ms: number | null
}

export interface ObservedResolver extends Resolver {
  state(): PartState
}

/** Health of name resolution is what its own traffic shows: a probe would tell strangers' servers that we exist. */
export function observeResolver(
  resolver: Resolver,
  servers: readonly string[],
  now: () => number,
): ObservedResolver {
  const who = servers.length > 0 ? servers.join(', ') : 'the system resolver'
  let last: { ok: boolean; at: number } | undefined
  return {
    // A memory says nothing about the health of who was asked.
    recall: (host) => resolver.recall?.(host),
    async resolve(host, timeoutMs) {
      try {
        const addresses = await resolver.resolve(host, timeoutMs)
        last = { ok: true, at: now() }
        return addresses
      } catch (thrown) {
        // A name that does not exist is an answer, and a resolver that gives it works.
        last = { ok: thrown instanceof ResolveError && thrown.reason === 'not_found', at: now() }
        throw thrown
      }
    },
    state() {
      if (!last) return { state: 'unknown', detail: `${who}: no name was asked for yet`, age_ms: null }
      return {
        state: last.ok ? 'ok' : 'failing',
        detail: last.ok ? `${who} answers` : `${who} did not answer the last question`,
        age_ms: now() - last.at,
      }
    },
  }
}

/** The report of `GET /healthz`: the store is asked anew, the other parts say what they saw last. */
export function createHealth(parts: {
  config: Pick<Config, 'mode'>
  store: Pick<Store, 'engine' | 'health' | 'countOpenClaims'>
  resolver: Pick<ObservedResolver, 'state'>
  router: Pick<Router, 'states'>
  chains: ReadonlyMap<string, Pick<Chain, 'state'>>
  analyser: { load(): AnalyserLoad }
  startedAt: number
  now: () => number
}): Health {
  const { config, store, resolver, router, chains, analyser, startedAt, now } = parts

  async function probeStore() {
    try {
      const { ok, latencyMs, detail } = await store.health()
      return { state: ok ? 'ok' : 'failing', detail, latency_ms: round(latencyMs), age_ms: 0 }
    } catch {
      return { state: 'failing', detail: 'the store did not answer', latency_ms: null, age_ms: 0 }
    }
  }

  /** Payments that nobody has decided yet; null when the store does not say. */
  async function countOpenPayments() {
    try {
      const { pending, unknown } = await store.countOpenClaims()
      return { pending, unknown }
    } catch {
      return null
    }
  }

  return {
    async report() {
      const [storeState, openPayments] = await Promise.all([probeStore(), countOpenPayments()])
      const resolverState = resolver.state()
      const facilitators = router.states()
      const chainStates = [...chains].map(([network, chain]) => ({ network, ...chain.state() }))
      const settlers = facilitators.flatMap((facilitator) => facilitator.settlers ?? [])
      const failing =
        [storeState, resolverState, ...facilitators, ...chainStates].some(
          ({ state }) => state === 'failing',
        ) || settlers.some(({ state }) => state === 'out_of_gas' || state === 'stuck')
      return {
        status: failing ? 'degraded' : 'ok',
        mode: config.mode,
        banner: config.mode === 'sandbox' ? 'SANDBOX: test money and test keys only' : null,
        time: new Date(now()).toISOString(),
        uptime_seconds: Math.floor((now() - startedAt) / 1000),
        versions: {
          api: API_VERSION,
          catalogue: CATALOGUE_VERSION,
          egress: EGRESS_VERSION,
          node: process.versions.node,
        },
        store: { engine: store.engine, ...storeState },
        resolver: resolverState,
        facilitators,
        chains: chainStates,
        payments: openPayments,
        analyses: analyser.load(),
      }
    },
  }
}

const round = (ms: number) => Math.round(ms * 100) / 100
