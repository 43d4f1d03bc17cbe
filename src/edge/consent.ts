// Whether a host's DNS consents to this gateway acting for one of its accounts. Every configured resolver is asked and all
// must say the same; what cannot be known is a refusal, and what was known does not outlive its time. Path and method are
// judged per call, addresses by the engine: consent never overrides those.
import { hash } from 'node:crypto'
import { getPublicSuffix } from 'tldts'
import type { EdgeRefusal } from '../../schemas/edge.ts'
import { SANDBOX_HOST } from '../egress/target.ts'
import { keepNewest } from '../lib/keep-newest.ts'
import { type ConsentDecision, decideConsent } from './consent-verdict.ts'
import {
  CONSENT_LABEL,
  type ConsentSource,
  type ConsentVerdict,
  type EdgeParts,
  type TxtAnswer,
} from './ports.ts'

export type ConsentParts = Pick<EdgeParts, 'txtResolvers' | 'edgeName' | 'allowSandboxName' | 'now'> & {
  readonly store: Pick<EdgeParts['store'], 'findEdgeHost'>
}

/** The answer of every resolver just now, and the verdict that follows. */
export interface Inquiry {
  readonly verdict: ConsentVerdict
  readonly answers: readonly { readonly resolver: string; readonly answer: TxtAnswer }[]
}

export interface Consents extends ConsentSource {
  /**
   * Asks every resolver, whatever is remembered; `find` knows the answer from then on.
   * @param expected the record of whoever asks: the sample site of the sandbox, which is in no DNS, publishes it
   */
  inquire(host: string, expected: string): Promise<Inquiry>
}

const ASK_MS = 5_000
/** Removal is honoured within this time, whatever TTL the record had. */
const LONGEST_SECONDS = 300
const LONGEST_REFUSAL_SECONDS = 60
/** Hosts that an operator asked for. Strangers make the others up, so those never push these out. */
const MAX_SERVED = 10_000
const MAX_OTHERS = 1_000
/**
 * Bounds for hosts nobody was served at yet. Strangers make names up whose servers never answer: half the questions that can be under
 * way, and half of all calls, is all they hold.
 */
const MAX_QUESTIONS = 128
const MAX_WAITING = 256
/** A bound for the questions of operators, which are asked anew whatever is remembered. */
const MAX_INQUIRIES = 32

interface Known {
  readonly decision: ConsentDecision
  readonly askedAt: number
  readonly until: number
  /** Once it was looked up. */
  readonly accountId?: string
  /** The verdict for as long as the record itself says nothing else: made once, and handed out on every call. */
  readonly granted?: Extract<ConsentVerdict, { ok: true }>
}

/** @returns the name at which the consent record of a host belongs */
export const consentName = (host: string): string => `${CONSENT_LABEL}.${host}`

/** @throws what the store throws; everything about DNS is a verdict */
export function createConsentSource(parts: ConsentParts): Consents {
  const { store, txtResolvers, edgeName, now } = parts
  const served = createKeep(MAX_SERVED)
  const others = createKeep(MAX_OTHERS)
  const asking = new Map<string, Promise<Known>>()
  const questions = createBound(MAX_QUESTIONS)
  const strangers = createBound(MAX_WAITING)
  const inquiries = createBound(MAX_INQUIRIES)
  const isSampleSite = (host: string) => parts.allowSandboxName && host === SANDBOX_HOST
  let sampleAnswer: TxtAnswer = { status: 'absent', ttlSeconds: 0, aliases: 0 }

  function recall(host: string): Known | undefined {
    const known = served.get(host) ?? others.get(host)
    // A clock that was set back must not make an answer last longer.
    return known && known.askedAt <= now() && now() < known.until ? known : undefined
  }

  function remember(host: string, known: Known): void {
    const earlier = served.get(host) ?? others.get(host)
    if (earlier && earlier.askedAt > known.askedAt && earlier.askedAt <= now()) return
    served.delete(host)
    others.delete(host)
    if (known.accountId === undefined) others.set(host, known)
    else served.set(host, known)
  }

  async function askResolvers(host: string): Promise<Inquiry['answers']> {
    if (isSampleSite(host)) return [{ resolver: 'sandbox', answer: sampleAnswer }]
    return Promise.all(
      txtResolvers.map(async (resolver) => ({
        resolver: resolver.name,
        answer: await resolver.ask(consentName(host), ASK_MS),
      })),
    )
  }

  async function ask(host: string): Promise<{ known: Known; answers: Inquiry['answers'] }> {
    const askedAt = now()
    const answers = await askResolvers(host)
    const decision = decideConsent(
      consentName(host),
      answers.map(({ answer }) => answer),
      edgeName,
    )
    const longest = decision.ok ? LONGEST_SECONDS : LONGEST_REFUSAL_SECONDS
    const until = askedAt + Math.min(decision.ttlSeconds ?? 0, longest) * 1000
    const known = await withAccount(host, { decision, askedAt, until })
    remember(host, known)
    return { known, answers }
  }

  /** Finds the account of this host only: a token that is published elsewhere is nobody's. */
  async function withAccount(host: string, known: Known): Promise<Known> {
    if (!known.decision.ok || known.accountId !== undefined) return known
    const { record, text } = known.decision
    const asked = await store.findEdgeHost(record.accountToken)
    if (asked?.host !== host) return known
    const { accountToken, paths, methods, until } = record
    const recordDigest = hash('sha256', text, 'base64url')
    const consent = { accountToken, paths, methods, until, recordDigest }
    const { accountId } = asked
    return { ...known, accountId, granted: { ok: true, accountId, consent } }
  }

  async function askOnce(host: string): Promise<Known> {
    let question = asking.get(host)
    if (!question) {
      question = ask(host)
        .then(({ known }) => known)
        .finally(() => asking.delete(host))
      asking.set(host, question)
    }
    return question
  }

  /** A token that was unknown may have been asked for since the record was read. */
  async function refresh(host: string, remembered: Known): Promise<Known> {
    const known = await withAccount(host, remembered)
    if (known !== remembered) remember(host, known)
    return known
  }

  function toVerdict(host: string, { decision, granted }: Known): ConsentVerdict {
    if (!decision.ok) return refuse(decision.refusal, decision.detail)
    const { until } = decision.record
    if (until !== null && now() >= until)
      return refuse(
        'expired',
        `The record at ${consentName(host)} has expired. Publish it with a later until.`,
      )
    return (
      granted ??
      refuse(
        'wrong_account',
        `The acct of the record at ${consentName(host)} was not given out for this host. Publish the one that edge check shows.`,
      )
    )
  }

  async function findAnew(host: string): Promise<ConsentVerdict> {
    const barred = barHost(host)
    if (barred) return barred
    const remembered = recall(host)
    if (remembered) return toVerdict(host, await refresh(host, remembered))
    const asked = async () => toVerdict(host, await askOnce(host))
    if (served.get(host)) return asked()
    return strangers(() => (asking.has(host) ? asked() : questions(asked, tooMany)), tooMany)
  }

  return {
    async find(host) {
      // A host is remembered only after it was found not to be barred, and what is granted is of nobody else.
      const remembered = recall(host)
      return remembered?.granted === undefined ? await findAnew(host) : toVerdict(host, remembered)
    },
    async inquire(host, expected) {
      const barred = barHost(host)
      if (barred) return { verdict: barred, answers: [] }
      if (isSampleSite(host))
        sampleAnswer = { status: 'found', records: [expected], ttlSeconds: 0, aliases: 0 }
      return inquiries(
        async () => {
          const { known, answers } = await ask(host)
          return { verdict: toVerdict(host, known), answers }
        },
        () => ({ verdict: tooMany(), answers: [] }),
      )
    },
  }
}

/** Names below it belong to whoever registers them, the consent label included. */
export const isPublicSuffix = (host: string): boolean =>
  getPublicSuffix(host, { allowPrivateDomains: true }) === host

function barHost(host: string): ConsentVerdict | undefined {
  if (!isPublicSuffix(host)) return undefined
  return refuse(
    'public_suffix',
    'Names below this host are handed out to strangers, so a record there proves nothing. Use a host below it.',
  )
}

const refuse = (refusal: EdgeRefusal, detail: string): ConsentVerdict => ({ ok: false, refusal, detail })

const tooMany = () =>
  refuse(
    'resolver_failed',
    'Consent of too many hosts is being looked up right now. Try again in a few seconds.',
  )

/** Does at most `max` pieces of work at a time; what comes beyond is answered at once. */
function createBound(max: number) {
  let held = 0
  return async <T>(work: () => Promise<T>, whenFull: () => T): Promise<T> => {
    if (held >= max) return whenFull()
    held++
    try {
      return await work()
    } finally {
      held--
    }
  }
}

/** The newest answers, which are the ones set last. */
function createKeep(max: number) {
  const kept = new Map<string, Known>()
  return {
    get: (host: string) => kept.get(host),
    delete: (host: string) => kept.delete(host),
    set(host: string, known: Known): void {
      kept.set(host, known)
      keepNewest(kept, max)
    },
  }
}
