// What everybody may know of how this gateway does. It is a list of what is said, not of what is left out: addresses of nodes, resolvers
// and accounts, versions, balances and the calls of customers are in none of it, whatever the reports behind it come to hold.
import { z } from 'zod'
import { ERRORS, type ErrorCode } from '../../core/errors.ts'
import { toTimestamp } from '../../lib/timestamp.ts'
import type { SiteParts } from './ports.ts'

const PartName = z.enum(['ok', 'failing', 'unknown'])
const Age = z.number().nullable()

/** Members of the health report that are shown; others are dropped. */
const Report = z.object({
  status: z.enum(['ok', 'degraded']),
  mode: z.enum(['sandbox', 'production']),
  store: z.object({ state: PartName, latency_ms: z.number().nullable(), age_ms: Age }),
  resolver: z.object({ state: PartName, age_ms: Age }),
  facilitators: z.array(
    z.object({
      id: z.string(),
      state: PartName,
      breaker: z.enum(['closed', 'open', 'half_open']),
      latency_ms: z.number().nullable(),
      age_ms: Age,
      kinds: z.array(z.object({ network: z.string() })),
      settlers: z.array(z.object({ state: z.string() })).optional(),
    }),
  ),
  chains: z.array(
    z.object({
      network: z.string(),
      state: PartName,
      age_ms: Age,
      latest_block: z.string().nullable().default(null),
      takes_payments: z.boolean().nullable().default(null),
    }),
  ),
})
type Report = z.infer<typeof Report>

/** Whose turn it is after a refusal. */
export type Turn = 'payment' | 'caller' | 'gateway'

export interface CallFigures {
  readonly delivered: number
  readonly refused: number
  readonly p50_ms: number | null
  readonly p95_ms: number | null
}

export interface Status {
  readonly status: Report['status']
  readonly mode: Report['mode']
  readonly checked_at: string
  readonly store: Report['store']
  readonly resolver: Report['resolver']
  readonly signing_key: { readonly kid: string; readonly since: string | null }
  readonly facilitators: readonly {
    readonly id: string
    readonly state: Report['store']['state']
    readonly breaker: 'closed' | 'open' | 'half_open'
    readonly latency_ms: number | null
    readonly age_ms: number | null
    readonly networks: readonly string[]
    /** An account that submits settlements is short of gas, or its transaction is stuck. */
    readonly needs_attention: boolean
  }[]
  readonly chains: Report['chains']
  readonly last_hour: CallFigures & {
    readonly since: string
    readonly minutes: readonly (CallFigures & { readonly at: string })[]
    /** At most ten. */
    readonly tools: readonly (CallFigures & { readonly tool: string })[]
    readonly refusals: readonly {
      readonly code: ErrorCode
      readonly title: string
      readonly turn: Turn
      readonly count: number
    }[]
  }
}

const MOST_TOOLS = 10
/** Visitors who look at once are shown one report: it costs a question to the store and a sum over an hour. */
const KEPT_MS = 2000

const kept = new WeakMap<SiteParts, { readonly at: number; readonly status: Promise<Status> }>()

/** At most two seconds old. */
export async function readStatus(site: SiteParts): Promise<Status> {
  const now = site.now()
  const known = kept.get(site)
  if (known && Math.abs(now - known.at) < KEPT_MS) return known.status
  const status = makeStatus(site)
  kept.set(site, { at: now, status })
  status.catch(() => kept.delete(site))
  return status
}

async function makeStatus(site: SiteParts): Promise<Status> {
  const { services, signer, store, now } = site
  const [report, keys] = await Promise.all([
    services.health.report().then((report) => Report.parse(report)),
    // A store that is away does not take away the page that says so.
    store.listPublishedKeys().catch(() => []),
  ])
  const signing = keys.find(({ kid }) => kid === signer.kid)
  return {
    status: report.status,
    mode: report.mode,
    checked_at: toTimestamp(now()),
    store: report.store,
    resolver: report.resolver,
    signing_key: { kid: signer.kid, since: signing ? toTimestamp(signing.notBefore) : null },
    facilitators: report.facilitators.map(({ kinds, settlers, ...facilitator }) => ({
      ...facilitator,
      // Version 1 of x402 has names of its own for the same networks.
      networks: [
        ...new Set(kinds.map(({ network }) => network).filter((name) => name.includes(':'))),
      ].toSorted(),
      needs_attention: settlers?.some(({ state }) => state !== 'ok' && state !== 'unknown') ?? false,
    })),
    chains: report.chains,
    last_hour: readLastHour(site),
  }
}

function readLastHour({ services, registry }: SiteParts): Status['last_hour'] {
  const open = new Set(
    registry.tools
      .map(({ tool }) => tool)
      .filter(({ caller, name }) => caller === 'anyone' && name !== 'gateway.health')
      .map(({ name }) => name),
  )
  const { since, minutes, tools, refusals, ...all } = services.recentCalls.lastHour((tool) => open.has(tool))
  return {
    ...figuresOf(all),
    since: toTimestamp(since),
    minutes: minutes.map((minute) => ({ at: toTimestamp(minute.at), ...figuresOf(minute) })),
    tools: tools.slice(0, MOST_TOOLS).map((tool) => ({ tool: tool.tool, ...figuresOf(tool) })),
    refusals: refusals.map(({ code, count }) => ({
      code,
      title: ERRORS[code].title,
      turn: turnOf(ERRORS[code].status),
      count,
    })),
  }
}

const figuresOf = (counts: {
  readonly delivered: number
  readonly refused: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}): CallFigures => ({
  delivered: counts.delivered,
  refused: counts.refused,
  p50_ms: counts.p50Ms,
  p95_ms: counts.p95Ms,
})

const turnOf = (status: number): Turn => (status === 402 ? 'payment' : status >= 500 ? 'gateway' : 'caller')
