// Email verification: spelling and lists first, then DNS where it can still change the answer, then a verifier of
// mailboxes where one is configured. What cannot be known in time is a review. No address is stored or logged.
import type { EmailVerification } from '../../schemas/email.ts'
import { GatewayError } from '../errors.ts'
import type { QuotaState } from '../limits.ts'
import { createPlaces } from '../outbound/places.ts'
import type { Email } from '../services.ts'
import type { Store } from '../store/ports.ts'
import { decide, type Judgement } from './decide.ts'
import { createFreeKeys } from './keys.ts'
import type { Knowledge } from './lists.ts'
import type { EmailParts, MailboxVerifier, MailRoute } from './ports.ts'
import { createQuota } from './quota.ts'
import { type AddressReading, readAddress } from './reading.ts'
import { createMailRoutes } from './route.ts'

export interface EmailServiceParts extends EmailParts {
  readonly store: Pick<Store, 'createEmailKey' | 'takeEmailQuota' | 'returnEmailQuota'>
  /** Lists and the operator's document as they stand now. */
  readonly readKnowledge: () => Promise<Knowledge>
  /** Addresses that a free key may verify in a day; 0: no limit. */
  readonly dailyQuota: number
  /** False where the operator switched limits off. */
  readonly areKeysLimited: boolean
  readonly elapsedMs: () => number
}

export interface EmailService extends Email {
  /** Gives back what is held of quotas nobody is using; `all` before the store closes. */
  settle(all?: 'all'): Promise<void>
}

/** Of one call, however many addresses it has. */
const DEADLINE_MS = 2_000
const MAX_MAILBOX_QUESTIONS = 16
const LATE: MailRoute = { status: 'unknown', reason: 'timeout' }

export function createEmail(parts: EmailServiceParts): EmailService {
  const { addresses: policy, dailyQuota, now } = parts
  const routes = createMailRoutes(parts)
  const quota = dailyQuota > 0 ? createQuota({ store: parts.store, limit: dailyQuota, now }) : undefined
  const mailbox = parts.mailbox && limited(parts.mailbox)

  /** Undefined where nothing that is asked would change the answer. */
  function recallRoute({ question, disposable }: AddressReading): MailRoute | undefined | 'ask' {
    if (question === undefined || disposable?.result === 'listed') return undefined
    if (question.kind === 'domain') return routes.recall(question.domain) ?? 'ask'
    return policy.classify(question.address).ok
      ? undefined
      : { status: 'unreachable', hosts: [], ttlSeconds: 0 }
  }

  async function judge(reading: AddressReading, deadline: Deadline): Promise<Judgement> {
    const known = recallRoute(reading)
    const route =
      known === 'ask' && reading.question?.kind === 'domain'
        ? await deadline.before(routes.find(reading.question.domain), LATE)
        : (known as MailRoute | undefined)
    const judgement = decide(reading, route, 'unknown')
    if (!mailbox || judgement.decision === 'reject' || judgement.normalized === null) return judgement
    return decide(reading, route, await mailbox(judgement.normalized, deadline))
  }

  return {
    createFreeKey: createFreeKeys({ ...parts, isLimited: parts.areKeysLimited }),

    async verify(addresses, context) {
      const { caller } = context
      if (quota && caller.kind === 'email') {
        const state = await quota.take(caller.id, addresses.length)
        context.quota(state)
        if (state.exceeded) throw dayIsOver(state, addresses.length)
      }
      const knowledge = await parts.readKnowledge()
      const deadline = createDeadline(DEADLINE_MS, context.signal)
      try {
        const judged = new Map<string, Promise<Judgement>>()
        for (const address of addresses)
          if (!judged.has(address)) judged.set(address, judge(readAddress(address, knowledge), deadline))
        await Promise.all(judged.values())
        const checkedAt = new Date(now()).toISOString()
        return await Promise.all(
          addresses.map(async (address): Promise<EmailVerification> => {
            const { cache_ttl_seconds, ...judgement } = (await judged.get(address))!
            return { ...judgement, checked_at: checkedAt, cache_ttl_seconds }
          }),
        )
      } finally {
        deadline.end()
      }
    },

    settle: async (all) => quota?.settle(all),
  }
}

const dayIsOver = ({ limit, remaining, resetSeconds }: QuotaState, count: number) =>
  new GatewayError(
    'rate_limited',
    `This key verifies at most ${limit} addresses a day (UTC): ${remaining} are left, ${count} were sent, and none was ` +
      `counted. ${remaining > 0 ? 'Send fewer, or try' : 'Try'} again in ${resetSeconds} s.`,
    { reason: 'daily quota', extras: { retry_after_seconds: resetSeconds, limit, remaining } },
  )

interface Deadline {
  readonly signal: AbortSignal
  /** What comes too late is `late`, for this call; who brings it goes on. */
  before<T>(answer: Promise<T>, late: T): Promise<T>
  end(): void
}

/** The timer is set when somebody has to wait: most answers are known. */
function createDeadline(ms: number, gone: AbortSignal): Deadline {
  const controller = new AbortController()
  const end = () => controller.abort()
  let timer: NodeJS.Timeout | undefined
  let over: Promise<void> | undefined
  function begin(): Promise<void> {
    timer = setTimeout(end, ms)
    if (gone.aborted) end()
    else gone.addEventListener('abort', end, { once: true })
    return new Promise((resolve) => {
      if (controller.signal.aborted) resolve()
      else controller.signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }
  return {
    get signal() {
      over ??= begin()
      return controller.signal
    },
    before(answer, late) {
      over ??= begin()
      return Promise.race([answer, over.then(() => late)])
    },
    end() {
      clearTimeout(timer)
      gone.removeEventListener('abort', end)
    },
  }
}

function limited(verifier: MailboxVerifier) {
  const places = createPlaces(MAX_MAILBOX_QUESTIONS)
  return async (address: string, deadline: Deadline): Promise<EmailVerification['mailbox']> => {
    const leave = await places.enter(DEADLINE_MS)
    if (!leave) return 'unknown'
    try {
      if (deadline.signal.aborted) return 'unknown'
      return await deadline.before(verifier.verify(address, deadline.signal), 'unknown')
    } finally {
      leave()
    }
  }
}
