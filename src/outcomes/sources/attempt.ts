// One address of a source, with the redirects that it leads through: read, analysed, and why it ended where it did.
import type {
  RedirectHop,
  RetrievedSource,
  RobotsPolicy,
  RobotsReport,
  SourceReason,
} from '../../../schemas/sources.ts'
import type { TargetOptions } from '../../egress/target.ts'
import { GatewayError } from '../../core/errors.ts'
import { within } from '../../lib/deadline.ts'
import type { FetchedSource, Gather, Lead, SourceFailure, SourceReader } from '../ports.ts'
import type { PageInput, Reading } from '../reading.ts'
import type { SiteBreaker } from './circuit-breaker.ts'
import { failure } from './failure.ts'
import { readRedirect, refuseRedirect } from './redirect.ts'
import type { Robots, SiteAnswer } from './robots.ts'
import { refuseUsage, reportUsage } from './usage.ts'

export interface AttemptParts {
  readonly reader: SourceReader
  readonly breaker: SiteBreaker
  readonly rules: TargetOptions
  readonly now: () => number
  /** The time for one address and all that it redirects to: names, connections and answers. */
  readonly addressMs: number
  /** However late the bytes came, somebody looks at them. */
  readonly minAnalysisMs: number
  /** Left out where nobody asks what sites say about automatic readers. */
  readonly robots?: RobotsRules | undefined
}

/** How a site is asked about automatic readers, and what follows from its answer. */
export interface RobotsRules extends Robots {
  readonly policy: RobotsPolicy
}

/** Told when an address has answered; what is read out of it comes later. */
export type AttemptOptions = Parameters<Gather>[1] & { readonly onAnswer: () => void }
export type Analyse<T> = (input: PageInput) => Promise<Reading<T>>

/** One address, as it went. */
export type Outcome<T> = {
  /** In the order in which they were followed. */
  readonly redirects: readonly RedirectHop[]
  /** Of the address that answered. */
  readonly robots?: RobotsReport | undefined
} & (
  | {
      readonly ok: true
      readonly fetched: FetchedSource
      readonly reading: Reading<T> & { readonly ok: true }
      readonly retrieved: RetrievedSource
    }
  | SourceFailure
)

/** One answer: usable, of no use, or leading elsewhere. */
type Step<T> =
  | {
      readonly is: 'usable'
      readonly outcome: Omit<Outcome<T> & { readonly ok: true }, 'redirects'>
    }
  | { readonly is: 'failed'; readonly outcome: SourceFailure & { readonly robots?: RobotsReport } }
  | { readonly is: 'leading'; readonly kind: Lead['kind']; readonly to: string; readonly httpStatus: number }

const RETRY_SECONDS = 2
const REPORT_WAIT_MS = 250
/** Reasons for which an analysis may have run for seconds before. */
const WASTEFUL: ReadonlySet<SourceReason> = new Set<SourceReason>([
  'budget_exceeded',
  'unreadable',
  'pdf_too_complex',
])
const SITE_WAITS =
  'Pages of this site took too long to read several times. Try again in ten minutes, or name another source.'

/** @returns the reading of one address until `deadline`; it throws only where the gateway itself is overloaded */
export function createAttempt(parts: AttemptParts) {
  const { reader, breaker, rules, now, addressMs, minAnalysisMs, robots } = parts

  async function readOnce<T>(
    url: string,
    { deadline, addressDeadline }: { readonly deadline: number; readonly addressDeadline: number },
    options: AttemptOptions,
    analyse: Analyse<T>,
  ): Promise<Step<T>> {
    const timeoutMs = addressDeadline - now()
    if (timeoutMs <= 0)
      return failed(failure('timeout', 'No time was left for this address. Try again later.'))
    if (breaker.isOpen(url)) return failed(failure('budget_exceeded', SITE_WAITS))
    // Asked beside the page: whoever is not kept away loses no time by it.
    const site = robots?.look(url)
    const read = await reader.read(url, { ...options, timeoutMs })
    if (!read.ok) {
      const led = leadOf(read, 'http')
      return led.is === 'leading' ? ((await keptAway(site)) ?? led) : led
    }
    options.onAnswer()
    const { source } = read
    const { status: httpStatus, contentType, contentLanguage, body, isCut } = source
    // The length is read before the bytes go to the analyser: they may be gone afterwards.
    const bytes = body.length
    const reading = await within(
      Math.max(minAnalysisMs, deadline - now()),
      analyse({
        body,
        isCut,
        contentType,
        contentLanguage,
        url: source.url,
        retrievedAt: source.retrievedAt,
      }),
    )
    // A page made to be slow is cut off long before: what took so long was the queue.
    if (reading === undefined) throw overloaded('Too many pages are waiting to be read.')
    if (reading.ok) {
      const report = robots && reportUsage(robots.policy, await answerOf(site), source.usage, reading.usage)
      const refusal = report && refuseUsage(report)
      if (refusal) return { is: 'failed', outcome: { ...refusal, httpStatus, robots: report } }
      const retrieved = toRetrieved(source, bytes, reading)
      return { is: 'usable', outcome: { ok: true, fetched: source, reading, retrieved, robots: report } }
    }
    if (WASTEFUL.has(reading.reason)) breaker.recordWaste(source.url)
    const { lead } = reading
    if (!lead) return failed(failure(reading.reason, reading.detail, { httpStatus }))
    const led = leadOf(readRedirect(lead.url, source.url, httpStatus, rules), lead.kind)
    // A page with a feed that cannot be read is a page all the same.
    return led.is === 'failed' && lead.kind === 'feed_link'
      ? failed(failure(reading.reason, reading.detail, { httpStatus }))
      : ((await keptAway(site)) ?? led)
  }

  /** A policy that refuses nothing waits for nobody, or hardly. */
  const answerOf = (site: Promise<SiteAnswer> | undefined): Promise<SiteAnswer | undefined> =>
    site === undefined || robots?.policy !== 'report'
      ? (site ?? Promise.resolve(undefined))
      : within(REPORT_WAIT_MS, site)

  /** An address that only leads on is asked for as well: who is kept away from it does not take its redirect. */
  async function keptAway(site: Promise<SiteAnswer> | undefined): Promise<Step<never> | undefined> {
    if (!robots || robots.policy === 'report') return undefined
    const report = reportUsage(robots.policy, await answerOf(site), undefined)
    const refusal = refuseUsage(report)
    return refusal && { is: 'failed', outcome: { ...refusal, robots: report } }
  }

  return async function tryAddress<T>(
    requested: string,
    options: AttemptOptions,
    deadline: number,
    analyse: Analyse<T>,
  ): Promise<Outcome<T>> {
    const times = { deadline, addressDeadline: Math.min(now() + addressMs, deadline) }
    const visited = [requested]
    const redirects: RedirectHop[] = []
    for (let url = requested; ;) {
      const step = await readOnce(url, times, options, analyse)
      if (step.is !== 'leading') return { ...step.outcome, redirects }
      const { kind, to, httpStatus } = step
      const refusal = refuseRedirect({ rule: options.redirects, visited, kind, to })
      if (refusal) return { ...refusal, httpStatus, redirects }
      redirects.push({ url, http_status: httpStatus, to, kind })
      visited.push(to)
      url = to
    }
  }
}

const failed = (outcome: SourceFailure) => ({ is: 'failed', outcome }) as const

/** A redirect to an address that could be read leads there; anything else has failed. */
const leadOf = (outcome: SourceFailure, kind: Lead['kind']) =>
  outcome.reason === 'redirected' && outcome.redirectTo !== undefined && outcome.httpStatus !== undefined
    ? ({ is: 'leading', kind, to: outcome.redirectTo, httpStatus: outcome.httpStatus } as const)
    : failed(outcome)

/** Refuses, uncharged, what there is no room for. */
export const overloaded = (detail: string) =>
  new GatewayError('overloaded', `${detail} Try again shortly; nothing was charged.`, {
    reason: 'source_reads',
    extras: { retry_after_seconds: RETRY_SECONDS },
  })

const toRetrieved = (
  source: FetchedSource,
  bytes: number,
  { format, charset, textSha256 }: Reading<unknown> & { readonly ok: true },
): RetrievedSource => ({
  url: source.url,
  http_status: source.status,
  retrieved_at: new Date(source.retrievedAt).toISOString(),
  age_seconds: source.ageSeconds,
  cache: source.cache,
  content_type: source.contentType,
  format,
  charset,
  bytes,
  truncated: source.isCut,
  etag: source.etag,
  last_modified: source.lastModified,
  source_sha256: source.sha256,
  text_sha256: textSha256,
})
