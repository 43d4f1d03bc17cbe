// Our own looks at whether a service answers: unpaid, without the seller's credential, spread in time. The host is asked for the head of
// the service's first route; any status below 500 is an answer, since most say 401, 402 or 405 to a request like this. Once a day a route
// that takes GET without a path parameter is asked for its 402, where it has one of its own, and that is scored.
import { testTransaction } from '../../commerce/rubric/report.ts'
import type { OutboundResponse, Sender } from '../../egress/ports.ts'
import { parseTarget, type TargetOptions } from '../../egress/target.ts'
import { Secret } from '../../lib/secret.ts'
import type { Targets } from '../../outbound/targets.ts'
import type { Store } from '../../store/ports.ts'
import { type Catalogue, type Entry, keyOf } from '../listings/catalogue.ts'
import { isSold } from '../listings/offer.ts'
import type { Recorder } from './recorder.ts'

export interface ProbeParts {
  readonly catalogue: Pick<Catalogue, 'ready' | 'all' | 'known' | 'upstream'>
  readonly store: Pick<Store, 'noteChallengeScore'>
  readonly targets: Pick<Targets, 'resolve'>
  readonly rules: TargetOptions
  readonly sender: Sender
  readonly recorder: Pick<Recorder, 'record'>
  /** Milliseconds between two looks at a service; 0: none. */
  readonly readIntervalMs: () => Promise<number>
  readonly now: () => number
}

const TIMEOUT_MS = 5_000
const MAX_BYTES = 64 * 1024
const AT_ONCE = 4
/** Passes are a minute apart: each takes its share of all services, and catches up where it can. */
const PASS_MS = 60_000
const MIN_PER_PASS = 10
const MAX_PER_PASS = 500
const DAY_MS = 24 * 3600 * 1000
const HEADERS: readonly (readonly [string, string])[] = [
  ['accept', '*/*'],
  ['accept-encoding', 'identity'],
  ['user-agent', 'agent-gateway-probe/1'],
]

export interface Probes {
  /** Looks at the services that are due, the longest not looked at first. @returns how many */
  pass(signal: AbortSignal): Promise<number>
}

export function createProbes(parts: ProbeParts): Probes {
  const { catalogue, store, recorder, now } = parts
  /** What this process has looked at: the store learns of it a moment later. */
  const lookedAt = new Map<string, number>()
  const scoredAt = new Map<string, number>()

  const lastLook = (entry: Entry) =>
    Math.max(lookedAt.get(entry.key) ?? 0, catalogue.known(entry, 'live')?.standing.probedAt ?? 0)

  async function ask(
    url: string,
    method: 'GET' | 'HEAD',
    signal: AbortSignal,
  ): Promise<OutboundResponse | 'not_ours_to_ask' | undefined> {
    const target = parseTarget(url, parts.rules)
    if (!target.ok) return 'not_ours_to_ask'
    try {
      const { addresses } = await parts.targets.resolve({ host: target.host, blocked: undefined }, TIMEOUT_MS)
      const result = await parts.sender.send({
        method,
        url: target.url,
        addresses,
        headers: new Secret(HEADERS),
        body: undefined,
        partition: 'market-probes',
        timeoutMs: TIMEOUT_MS,
        maxResponseBytes: MAX_BYTES,
        signal,
      })
      // A long page is an answer, too.
      if (result.ok) return result.response
      return result.phase === 'response' && result.reason === 'too_large' ? 'not_ours_to_ask' : undefined
    } catch (thrown) {
      // The operator's own stop says nothing about the service.
      if (thrown instanceof Error && 'code' in thrown && thrown.code === 'egress_paused')
        return 'not_ours_to_ask'
      return undefined
    }
  }

  async function look(entry: Entry, signal: AbortSignal): Promise<void> {
    const upstream = catalogue.upstream(entry)
    if (!upstream) return
    const { sellerId, serviceId } = entry.offer
    const service = { sellerId, serviceId, environment: 'live' } as const
    const at = now()
    lookedAt.set(entry.key, at)
    const free = entry.offer.document.routes.find(
      ({ method, path }) => method === 'GET' && !path.includes('{'),
    )
    const isScored = free !== undefined && at - (scoredAt.get(entry.key) ?? 0) >= DAY_MS
    const [first] = entry.offer.document.routes
    const path = (isScored ? free.path : first?.path.replace(/\{.*$/s, '')) ?? '/'
    const url = upstream.origin + upstream.basePath + path
    const answer = await ask(url, isScored ? 'GET' : 'HEAD', signal)
    if (signal.aborted || answer === 'not_ours_to_ask') return
    recorder.record({ ...service, kind: answer !== undefined && answer.status < 500 ? 'up' : 'down' })
    if (!isScored || answer === undefined) return
    scoredAt.set(entry.key, at)
    await store.noteChallengeScore({ ...service, score: scoreOf(url, answer), now: now() })
  }

  return {
    async pass(signal) {
      const intervalMs = await parts.readIntervalMs()
      if (intervalMs === 0) return 0
      await catalogue.ready()
      const sold = [...catalogue.all()].filter(({ offer }) => !offer.isOurs && isSold(offer))
      const share = Math.ceil((sold.length * PASS_MS) / intervalMs)
      const due = sold
        .filter((entry) => now() - lastLook(entry) >= intervalMs)
        .sort((a, b) => lastLook(a) - lastLook(b))
        .slice(0, Math.min(MAX_PER_PASS, Math.max(MIN_PER_PASS, share)))
      const queue = due.values()
      const work = async () => {
        for (const entry of queue) if (!signal.aborted) await look(entry, signal)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
      const keys = new Set(sold.map(({ offer }) => keyOf(offer.sellerId, offer.serviceId)))
      for (const map of [lookedAt, scoredAt])
        for (const key of map.keys()) if (!keys.has(key)) map.delete(key)
      return due.length
    },
  }
}

/** Null where it asks for no payment by itself. */
function scoreOf(target: string, { status, headers, body }: OutboundResponse): number | null {
  if (status !== 402) return null
  const fields = headers
    .filter(({ trailer }) => trailer !== true)
    .map(({ name, value }) => [name, value] as const)
  const { applicable, score } = testTransaction({
    target,
    method: 'GET',
    headers: Object.fromEntries(fields),
    body: body.toString('utf8'),
  })
  return applicable ? score : null
}
