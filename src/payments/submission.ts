// Hands a settlement to upstreams, and asks the chain meanwhile: a facilitator that hangs keeps nobody waiting for what its
// chain has known for long. Decides nothing about the claim.
import { setTimeout as sleep } from 'node:timers/promises'
import type { PaymentRequirements } from '../../schemas/x402.ts'
import { LogField, type Logger } from '../lib/log.ts'
import type { PaymentClaim } from '../store/ports.ts'
import type { Evidence, EvidenceReader } from './chain-evidence.ts'
import type { Payment, Route, Router, Upstream, UpstreamSettlement } from './ports.ts'

export interface SubmissionParts {
  readonly router: Pick<Router, 'report'>
  readonly evidence: Pick<EvidenceReader, 'canRead' | 'read'>
  readonly now: () => number
  readonly log: Logger
  readonly upstreamMs?: number | undefined
  /** For tests: the pause before the chain is asked again; false once `signal` is aborted. */
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<boolean>) | undefined
}

/** The upstream's answer may take this long; what is left of the time for a settlement is for the chain. */
const UPSTREAM_MS = 20_000
/** Pauses between questions to the chain while an upstream has not answered; the last one is repeated. */
export const WATCH_PAUSES_MS = [1_000, 2_000, 4_000] as const
/** With less time than this a second submission is not begun. */
const WORTH_TRYING_MS = 2_000

/** Best first. */
export type Routes = readonly [Route, ...Route[]]

export interface Submitted {
  readonly claim: PaymentClaim
  readonly payment: Payment
  readonly requirements: PaymentRequirements
  /** When the first submission began: all of them share one deadline. */
  readonly startedAt: number
}

export interface Answered {
  readonly upstream: Upstream
  readonly answer: UpstreamSettlement
  readonly ms: number
  /** Where the chain knew before the upstream did. */
  readonly found?: Evidence
}

export interface Submitter {
  /** Tries one upstream after the other, until one has got the payment. Never throws. */
  first(routes: Routes, submitted: Submitted): Promise<Answered>
  /** Submits to an upstream that has the payment; undefined when there is no time for it. Never throws. */
  again(upstream: Upstream, submitted: Submitted): Promise<Answered | undefined>
}

/** @param parts.evidence reads the chains of the claims */
export function createSubmitter(parts: SubmissionParts): Submitter {
  const { router, evidence, now, log, pause = pauseFor, upstreamMs = UPSTREAM_MS } = parts

  /** Asks until the chain knows for good; undefined once nobody wants to hear it. */
  async function watch(claim: PaymentClaim, signal: AbortSignal): Promise<Evidence | undefined> {
    for (let turn = 0; ; turn++) {
      const ms = WATCH_PAUSES_MS[turn] ?? WATCH_PAUSES_MS.at(-1) ?? 0
      if (!(await pause(ms, signal))) return undefined
      const found = await evidence.read(claim)
      if (found.state === 'paid' || found.state === 'void') return found
    }
  }

  /** The upstream's answer, or what the chain knows before it. An answer that comes later is only counted. */
  async function answerOf(
    upstream: Upstream,
    { claim, payment, requirements }: Submitted,
    deadlineMs: number,
  ): Promise<Omit<Answered, 'ms'>> {
    const startedAt = now()
    const work = upstream
      .settle({ payment, requirements, deadlineMs })
      .catch((): UpstreamSettlement => ({ state: 'unknown', reason: 'upstream_failed' }))
      .then((answer) => {
        if (answer.state !== 'settled') report(upstream, payment, answer, now() - startedAt)
        return { upstream, answer }
      })
    // The upstream of this process reads the chain itself.
    if (upstream.url === null || !evidence.canRead(claim)) return work
    const stop = new AbortController()
    const seen = watch(claim, stop.signal).then((found) => found && { upstream, answer: SILENT, found })
    const first = await Promise.race([work, seen.then((known) => known ?? work)])
    stop.abort()
    if ('found' in first) {
      log.info({ [LogField.claim]: claim.id, upstream: upstream.id }, 'the chain knew before the facilitator')
      void work.then(({ answer }) => {
        if (answer.state === 'settled') report(upstream, payment, answer, now() - startedAt)
      })
    }
    return first
  }

  function report({ id }: Upstream, { scheme, network }: Payment, answer: UpstreamSettlement, ms: number) {
    router.report(id, { ok: !isUpstreamsFault(answer), ms, kind: { scheme, network } })
    if (answer.state === 'refused')
      log.warn({ upstream: id, reason: answer.reason }, 'a facilitator did not take a settlement')
  }

  const timeLeft = ({ startedAt }: Submitted) => upstreamMs - (now() - startedAt)

  async function settleWith(upstream: Upstream, submitted: Submitted): Promise<Answered> {
    const startedAt = now()
    const answered = await answerOf(upstream, submitted, timeLeft(submitted))
    return { ...answered, ms: now() - startedAt }
  }

  return {
    async first([best, ...others], submitted) {
      let last = await settleWith(best.upstream, submitted)
      for (const { upstream } of others) {
        // After a byte of the payment left, sending it to another upstream would be a second submission.
        if (last.answer.state !== 'refused' || timeLeft(submitted) <= 0) break
        last = await settleWith(upstream, submitted)
      }
      return last
    },
    async again(upstream, submitted) {
      return timeLeft(submitted) < WORTH_TRYING_MS ? undefined : settleWith(upstream, submitted)
    },
  }
}

const SILENT: UpstreamSettlement = { state: 'unknown', reason: 'upstream_silent' }

const pauseFor = (ms: number, signal: AbortSignal) =>
  sleep(ms, true, { signal, ref: false }).catch(() => false)

/**
 * Refusals of the upstream in this process that the next payment would get too. What it says that it takes is known for half a
 * minute, and until then every work would be done for nothing.
 */
const CANNOT_SETTLE: ReadonlySet<string> = new Set([
  'out_of_gas',
  'settlers_stuck',
  'settlers_busy',
  'gas_price_above_cap',
  'chain_unreachable',
  'no_settler',
])

/** Whether the upstream did not do its work: it was not reached, is broken, or fails at what it claims to take. */
const isUpstreamsFault = (answer: UpstreamSettlement) =>
  (answer.state === 'unknown' && answer.reason.startsWith('upstream_')) ||
  (answer.state === 'refused' &&
    (answer.reason.startsWith('upstream_') || CANNOT_SETTLE.has(answer.reason))) ||
  (answer.state === 'failed' && answer.reason.startsWith('unexpected_'))
