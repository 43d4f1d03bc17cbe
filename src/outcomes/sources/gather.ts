// Reads every source in parallel, each with its fallback and its own deadline; what became of each is the coverage.
import type { Coverage, SourceAttempt, SourceCoverage } from '../../../schemas/sources.ts'
import { noProgress, type Progress } from '../../core/progress.ts'
import type { TargetOptions } from '../../egress/target.ts'
import type { Gather, SourceReader, SourceRequest } from '../ports.ts'
import {
  type Analyse,
  type AttemptOptions,
  createAttempt,
  type Outcome,
  overloaded,
  type RobotsRules,
} from './attempt.ts'
import { createSiteBreaker } from './circuit-breaker.ts'

export interface GatherParts {
  readonly reader: SourceReader
  /** The addresses that may be read at all. */
  readonly rules: TargetOptions
  readonly now: () => number
  readonly limits?: Partial<GatherLimits>
  readonly robots?: RobotsRules | undefined
}

export interface GatherLimits {
  /** The time for one address and all that it redirects to: names, connections and answers. */
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

interface SourceOutcome<T> {
  readonly coverage: SourceCoverage
  readonly usable: (Outcome<T> & { readonly ok: true }) | undefined
}

/** @param parts.limits replace single defaults, in tests */
export function createGather({ reader, rules, now, limits, robots }: GatherParts): Gather {
  const { addressMs, sourceMs, maxReads, minAnalysisMs } = { ...LIMITS, ...limits }
  const breaker = createSiteBreaker(now)
  const tryAddress = createAttempt({ reader, breaker, rules, now, addressMs, minAnalysisMs, robots })
  let running = 0

  async function readSource<T>(
    { url: requested, fallbacks }: SourceRequest,
    options: AttemptOptions,
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

const toAttempt = (
  outcome: Outcome<unknown>,
): Pick<
  SourceAttempt,
  'ok' | 'reason' | 'detail' | 'http_status' | 'redirect_to' | 'redirects' | 'robots'
> => ({
  ...reasonOf(outcome),
  ...(outcome.redirects.length > 0 && { redirects: [...outcome.redirects] }),
  ...(outcome.robots && { robots: outcome.robots }),
})

const reasonOf = (outcome: Outcome<unknown>) =>
  outcome.ok
    ? { ok: true, reason: null, detail: null, http_status: outcome.fetched.status, redirect_to: null }
    : {
        ok: false,
        reason: outcome.reason,
        detail: outcome.detail,
        http_status: outcome.httpStatus ?? null,
        redirect_to: outcome.redirectTo ?? null,
      }

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
