// Reads every source in parallel, each with its fallback and its own deadline; what became of each is the coverage.
import type {
  Coverage,
  RetrievedSource,
  SourceAttempt,
  SourceCoverage,
  SourceReason,
} from '../../../schemas/sources.ts'
import { GatewayError } from '../../core/errors.ts'
import { noProgress, type Progress } from '../../core/progress.ts'
import { within } from '../../lib/deadline.ts'
import type { FetchedSource, Gather, SourceFailure, SourceReader, SourceRequest } from '../ports.ts'
import type { PageInput, Reading } from '../reading.ts'
import { createSiteBreaker } from './circuit-breaker.ts'
import { failure } from './failure.ts'

export interface GatherParts {
  readonly reader: SourceReader
  readonly now: () => number
  readonly limits?: Partial<GatherLimits>
}

export interface GatherLimits {
  /** The time for one address: name, connection and answer. */
  readonly addressMs: number
  /** The time for a source with its fallback and what is read out of both. */
  readonly sourceMs: number
  /** Sources that are read at once, in this process. */
  readonly maxReads: number
  /** However late the bytes came, somebody looks at them: longer than the analyser lets anything run. */
  readonly minAnalysisMs: number
}

/** A slow source holds a place for as long as it may take, and up to twice 2 MiB of memory. */
const LIMITS: GatherLimits = { addressMs: 6_000, sourceMs: 12_000, maxReads: 128, minAnalysisMs: 3_000 }
const RETRY_SECONDS = 2

/** Reasons for which an analysis may have run for seconds before. */
const WASTEFUL: ReadonlySet<SourceReason> = new Set<SourceReason>(['budget_exceeded', 'unreadable'])
const SITE_WAITS =
  'Pages of this site took too long to read several times. Try again in ten minutes, or name another source.'

type Options = Parameters<Gather>[1]
/** Told when an address has answered; what is read out of it comes later. */
type ReadOptions = Options & { readonly onAnswer: () => void }
type Analyse<T> = (input: PageInput) => Promise<Reading<T>>
/** One address, as it went. */
type Outcome<T> =
  | {
      readonly ok: true
      readonly fetched: FetchedSource
      readonly reading: Reading<T> & { readonly ok: true }
      readonly retrieved: RetrievedSource
    }
  | SourceFailure

interface SourceOutcome<T> {
  readonly coverage: SourceCoverage
  readonly usable: (Outcome<T> & { readonly ok: true }) | undefined
}

/** @param parts.limits replace single defaults, in tests */
export function createGather({ reader, now, limits }: GatherParts): Gather {
  const { addressMs, sourceMs, maxReads, minAnalysisMs } = { ...LIMITS, ...limits }
  const breaker = createSiteBreaker(now)
  let running = 0

  async function tryAddress<T>(
    url: string,
    options: ReadOptions,
    deadline: number,
    analyse: Analyse<T>,
  ): Promise<Outcome<T>> {
    const timeoutMs = Math.min(addressMs, deadline - now())
    if (timeoutMs <= 0) return failure('timeout', 'No time was left for this address. Try again later.')
    if (breaker.isOpen(url)) return failure('budget_exceeded', SITE_WAITS)
    const read = await reader.read(url, { ...options, timeoutMs })
    if (!read.ok) return read
    options.onAnswer()
    const { source } = read
    const { status: httpStatus, contentType, contentLanguage, body, isCut } = source
    // The length is read before the bytes go to the analyser: they may be gone afterwards.
    const bytes = body.length
    const analysisMs = Math.max(minAnalysisMs, deadline - now())
    const reading = await within(
      analysisMs,
      analyse({ body, isCut, contentType, contentLanguage, url: source.url }),
    )
    // A page made to be slow is cut off long before: what took so long was the queue.
    if (reading === undefined) throw overloaded('Too many pages are waiting to be read.')
    if (!reading.ok && WASTEFUL.has(reading.reason)) breaker.recordWaste(source.url)
    if (!reading.ok) return failure(reading.reason, reading.detail, { httpStatus })
    return { ok: true, fetched: source, reading, retrieved: toRetrieved(source, bytes, reading) }
  }

  async function readSource<T>(
    { url: requested, fallbacks }: SourceRequest,
    options: ReadOptions,
    analyse: Analyse<T>,
  ): Promise<SourceOutcome<T>> {
    const deadline = now() + sourceMs
    const attempts: SourceAttempt[] = []
    let usable: SourceOutcome<T>['usable']
    for (const url of [requested, ...fallbacks]) {
      const startedAt = now()
      const outcome = await tryAddress(url, options, deadline, analyse)
      const role = attempts.length === 0 ? 'source' : 'fallback'
      attempts.push({
        url,
        role,
        ...toAttempt(outcome),
        duration_ms: Math.max(0, Math.round(now() - startedAt)),
      })
      if (outcome.ok) usable = outcome
      if (outcome.ok || options.signal.aborted) break
    }
    const coverage: SourceCoverage = {
      requested,
      ok: usable !== undefined,
      fallback_used: usable !== undefined && attempts.length > 1,
      reason: usable === undefined ? (attempts[0]?.reason ?? null) : null,
      attempts,
      retrieved: usable?.retrieved ?? null,
    }
    return { coverage, usable }
  }

  return async (sources, options, analyse) => {
    if (running + sources.length > maxReads) throw overloaded('Too many sources are being read.')
    running += sources.length
    const giveUp = new AbortController()
    const signal = AbortSignal.any([options.signal, giveUp.signal])
    const steps = countSteps(sources.length, options.progress ?? noProgress)
    try {
      const outcomes = await Promise.all(
        sources.map(async (source, at) => {
          const step = steps.of(at)
          try {
            const outcome = await readSource(source, { ...options, signal, onAnswer: step.answered }, analyse)
            step.ended(outcome.usable !== undefined)
            return outcome
          } finally {
            running--
          }
        }),
      )
      return {
        coverage: toCoverage(outcomes.map(({ coverage }) => coverage)),
        usable: outcomes.flatMap(({ usable }, source) =>
          usable
            ? [{ source, fetched: usable.fetched, retrieved: usable.retrieved, reading: usable.reading }]
            : [],
        ),
      }
    } finally {
      // Nobody waits for the others where one of them threw.
      giveUp.abort()
    }
  }
}

/** One step to begin with, and two a source: it answered, and it was read. One that never answers has taken both when it is given up. */
function countSteps(count: number, report: Progress) {
  const total = 1 + 2 * count
  let done = 1
  report({ done, total, message: count === 1 ? 'Reading the source' : `Reading ${count} sources` })
  return {
    of(at: number) {
      const name = count === 1 ? 'The source' : `Source ${at + 1} of ${count}`
      let own = 0
      const reach = (step: 1 | 2, what: string) => {
        if (own >= step) return
        done += step - own
        own = step
        report({ done, total, message: `${name} ${what}` })
      }
      return {
        answered: () => reach(1, 'has answered'),
        ended: (isUsable: boolean) => reach(2, isUsable ? 'is read' : 'gave nothing usable'),
      }
    },
  }
}

const overloaded = (detail: string) =>
  new GatewayError('overloaded', `${detail} Try again shortly; nothing was charged.`, {
    reason: 'source_reads',
    extras: { retry_after_seconds: RETRY_SECONDS },
  })

const toAttempt = (
  outcome: Outcome<unknown>,
): Pick<SourceAttempt, 'ok' | 'reason' | 'detail' | 'http_status' | 'redirect_to'> =>
  outcome.ok
    ? { ok: true, reason: null, detail: null, http_status: outcome.fetched.status, redirect_to: null }
    : {
        ok: false,
        reason: outcome.reason,
        detail: outcome.detail,
        http_status: outcome.httpStatus ?? null,
        redirect_to: outcome.redirectTo ?? null,
      }

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

function toCoverage(sources: SourceCoverage[]): Coverage {
  const usable = sources.filter(({ ok }) => ok).length
  const isWhole = sources.every(({ retrieved }) => retrieved !== null && !retrieved.truncated)
  return {
    asked: sources.length,
    usable,
    failed: sources.length - usable,
    complete: sources.length > 0 && isWhole,
    sources,
  }
}
