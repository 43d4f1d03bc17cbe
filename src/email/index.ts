// Email verification: spelling and lists first, then DNS where it can still change the answer, then a verifier of
// mailboxes where one is configured. What cannot be known in time is a review. No address is stored or logged.
import type { EmailVerification } from '../../schemas/email.ts'
import { GatewayError } from '../core/errors.ts'
import type { QuotaState } from '../core/rate-limit.ts'
import { must } from '../lib/must.ts'
import { createSemaphore } from '../lib/semaphore.ts'
import type { Email } from './ports.ts'
import type { Store } from '../store/ports.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import { decide, type DomainSignals, type Judgement } from './decide.ts'
import { readDomain } from './domain.ts'
import { createFreeKeys } from './keys.ts'
import type { Knowledge } from './lists.ts'
import { findMailService, type MailService } from './mail-service.ts'
import type { EmailParts, MailboxVerifier, MailRoute } from './ports.ts'
import { createQuota } from './quota.ts'
import { type AddressReading, readAddress } from './reading.ts'
import { createMailRoutes } from './route.ts'

export interface EmailServiceParts extends EmailParts {
  readonly store: Pick<
    Store,
    'createEmailKey' | 'listEmailKeys' | 'revokeEmailKey' | 'takeEmailQuota' | 'returnEmailQuota'
  >
  /** Lists and the operator's document as they stand now. */
  readonly readKnowledge: () => Promise<Knowledge>
  /** Addresses that a free key may verify in a day; 0: no limit. */
  readonly dailyQuota: number
  /** False where the operator switched limits off. */
  readonly areKeysLimited: boolean
  readonly elapsedMs: () => number
  /** Called with a key that was revoked: it opens nothing from then on. */
  readonly forgetKey: (id: string) => void
}

export interface EmailService extends Email {
  /** Gives back what is held of quotas nobody is using; `all` before the store closes. */
  settle(all?: 'all'): Promise<void>
  /** Loads the lists where somebody has a key: what starts before the first verification need not be waited for by it. */
  prepare(): Promise<void>
}

const CALL_MS = 2_000
const MAX_MAILBOX_QUESTIONS = 16
/** Reports of progress that a batch sends: a hundred addresses are decided within two seconds. */
const MAX_REPORTS = 10
const DAY_MS = 86_400_000
const SANDBOX: MailRoute = { status: 'sandbox', ttlSeconds: 300 }
const LATE: MailRoute = { status: 'unknown', reason: 'timeout' }

/** @param parts.elapsedMs milliseconds of a clock that never jumps */
export function createEmail(parts: EmailServiceParts): EmailService {
  const { addresses: policy, ages, dailyQuota, newDomainDays, now, sandboxDomains } = parts
  const { callMs = CALL_MS } = parts.times ?? {}
  const routes = createMailRoutes(parts)
  const quota = dailyQuota > 0 ? createQuota({ store: parts.store, limit: dailyQuota, now }) : undefined
  const askMailbox = parts.mailbox && limited(parts.mailbox, callMs)

  /** Undefined where nothing that is asked would change the answer. */
  async function routeOf(
    { question, disposable }: AddressReading,
    deadline: Deadline,
  ): Promise<MailRoute | undefined> {
    if (question === undefined || disposable?.result === 'listed') return undefined
    if (question.kind === 'domain' && sandboxDomains.has(question.domain)) return SANDBOX
    if (question.kind === 'domain')
      return routes.recall(question.domain) ?? deadline.before(routes.find(question.domain), LATE)
    return policy.classify(question.address).ok
      ? undefined
      : { status: 'unreachable', hosts: [], ttlSeconds: 0 }
  }

  async function judge(
    reading: AddressReading,
    knowledge: Knowledge,
    deadline: Deadline,
  ): Promise<Judgement> {
    const [route, registeredAt] = await Promise.all([
      routeOf(reading, deadline),
      registrationOf(reading, deadline),
    ])
    const signals: DomainSignals = {
      service: route?.status === 'mx' ? serviceOf(route.hosts[0]?.host, knowledge) : undefined,
      registeredAt,
      isNew: registeredAt !== undefined && now() - registeredAt < newDomainDays * DAY_MS,
    }
    const judgement = decide(reading, route, 'unknown', signals)
    const { decision, normalized } = judgement
    if (!askMailbox || decision === 'reject' || normalized === null) return judgement
    return decide(reading, route, await askMailbox(normalized, deadline), signals)
  }

  /** Nobody is asked about domains that are known: most addresses have one of a few. */
  async function registrationOf(
    { syntax, question, disposable, isFree, isRelay }: AddressReading,
    deadline: Deadline,
  ): Promise<number | undefined> {
    if (!ages || !syntax.ok || question?.kind !== 'domain') return undefined
    const domain = syntax.domain?.registrable ?? undefined
    const isKnown = isFree || isRelay || disposable?.result === 'listed' || disposable?.result === 'allowed'
    if (domain === undefined || isKnown || sandboxDomains.has(question.domain)) return undefined
    return deadline.before(ages.registeredAt(domain), undefined)
  }

  const createFreeKey = createFreeKeys({ ...parts, isLimited: parts.areKeysLimited })
  /** A failure is not reported here: the verification that needs the lists asks again and tells. */
  const preload = () => void parts.readKnowledge().catch(() => {})
  const today = () => toTimestamp(now()).slice(0, 10)

  return {
    async createFreeKey(address) {
      const key = await createFreeKey(address)
      preload()
      return key
    },

    async listKeys(page) {
      const { items, next } = await parts.store.listEmailKeys({ ...page, day: today() })
      return { items: items.map((key) => ({ ...key, usedToday: quota ? key.usedToday : null })), next }
    },

    async revokeKey(id) {
      const key = await parts.store.revokeEmailKey({ id, now: now() })
      if (!key) throw new GatewayError('key_not_found', 'No email key has this id. List them to find it.')
      parts.forgetKey(id)
      return key
    },

    async prepare() {
      const { items } = await parts.store.listEmailKeys({ limit: 1, day: today() })
      if (items.length > 0) preload()
    },

    async verify(addresses, context) {
      const { caller } = context
      if (quota && caller.kind === 'email') {
        const state = await quota.take(caller.id, addresses.length)
        context.quota(state)
        if (state.exceeded) throw dayIsOver(state, addresses.length)
      }
      const knowledge = await parts.readKnowledge()
      const deadline = createDeadline(callMs, context.signal)
      try {
        const judged = new Map<unknown, Judgement>()
        const distinct = [...new Set(addresses)]
        const total = distinct.length
        const every = Math.ceil(total / MAX_REPORTS)
        await Promise.all(
          distinct.map(async (address) => {
            judged.set(address, await judge(readAddress(address, knowledge), knowledge, deadline))
            if (total > 1 && judged.size % every === 0)
              context.progress({ done: judged.size, total, message: `${judged.size} of ${total} decided` })
          }),
        )
        const checkedAt = toTimestamp(now())
        return addresses.map((address) => ({
          ...must(judged.get(address), 'the judgement of an address of this call'),
          checked_at: checkedAt,
        }))
      } finally {
        deadline.end()
      }
    },

    settle: async (all) => quota?.settle(all),
  }
}

/** A host of a disposable service takes mail for whoever points a domain at it, so the lists say more than its name. */
function serviceOf(host: string | undefined, knowledge: Knowledge): MailService | undefined {
  if (host === undefined) return undefined
  const domain = readDomain(host)
  if (domain.ok && knowledge.findDisposable(domain.name).result === 'listed')
    return { name: domain.name.registrable ?? host, kind: 'throwaway' }
  return findMailService(host)
}

const dayIsOver = ({ limit, remaining, resetSeconds }: QuotaState, count: number) =>
  new GatewayError(
    'rate_limited',
    `This key verifies at most ${limit} addresses a day (UTC): ${remaining} are left, ${count} were sent, and none was ` +
      `counted. ${remaining > 0 ? 'Send fewer, or try' : 'Try'} again in ${resetSeconds} s.`,
    { reason: 'daily quota', extras: { retry_after_seconds: resetSeconds, limit, remaining } },
  )

interface Deadline {
  readonly signal: () => AbortSignal
  /** An answer that comes too late is `late` for this call; whoever brings it goes on. */
  before<T>(answer: Promise<T>, late: T): Promise<T>
  end(): void
}

/** The timer is set when somebody has to wait: most answers are known. */
function createDeadline(ms: number, gone: () => AbortSignal): Deadline {
  let running: RunningDeadline | undefined
  const run = () => (running ??= runDeadline(ms, gone()))
  return {
    signal: () => run().signal,
    before: (answer, late) => Promise.race([answer, run().over.then(() => late)]),
    end: () => running?.stop(),
  }
}

interface RunningDeadline {
  readonly signal: AbortSignal
  readonly over: Promise<void>
  stop(): void
}

function runDeadline(ms: number, gone: AbortSignal): RunningDeadline {
  const controller = new AbortController()
  const { signal } = controller
  const end = () => controller.abort()
  const over = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  )
  const timer = setTimeout(end, ms)
  gone.addEventListener('abort', end, { once: true })
  if (gone.aborted) end()
  return {
    signal,
    over,
    stop() {
      clearTimeout(timer)
      gone.removeEventListener('abort', end)
    },
  }
}

function limited(verifier: MailboxVerifier, callMs: number) {
  const semaphore = createSemaphore(MAX_MAILBOX_QUESTIONS)
  return async (address: string, deadline: Deadline): Promise<EmailVerification['mailbox']> => {
    const release = await semaphore.acquire(callMs)
    if (!release) return 'unknown'
    try {
      const signal = deadline.signal()
      if (signal.aborted) return 'unknown'
      return await deadline.before(verifier.verify(address, signal), 'unknown')
    } finally {
      release()
    }
  }
}
