// The one path that every door takes: authenticate, limit, parse, plan, take the price, run, check, settle, record.
import { authenticate, callerOf, type AuthenticationStore, type PresentedTokens } from './authenticate.ts'
import { refusalWithoutBalance, seesBalance, withoutBalance } from './balance-view.ts'
import { GatewayError, toGatewayError } from './errors.ts'
import { withIdempotencyKey } from './idempotency-key.ts'
import { parseInput, underOwnCode } from './input.ts'
import type { QuotaState, RateLimiter, RateState } from './rate-limit.ts'
import { newId } from '../lib/ids.ts'
import { LogField, type Logger } from '../lib/log.ts'
import type {
  CreditsRequired,
  PaidResult,
  PaymentGate,
  PresentedPayment,
  PresentedSignIn,
} from './charging.ts'
import type { Debits } from './debits.ts'
import type { Price } from './price.ts'
import { createPlaces, placesFor } from './places.ts'
import { forwardOnly, noProgress, type Progress } from './progress.ts'
import { createPricedRun, type RunResult } from './priced-run.ts'
import { createIsDocumented } from './tool-errors.ts'
import type { AnyTool } from './registry.ts'
import { withTokenArgument } from './token-argument.ts'
import type { HttpExchange, HttpMessage } from './message.ts'
import type { CallWatch } from './call-watch.ts'
import type { DecisionWatch } from './live-events.ts'
import { decisionOf } from './decision.ts'
import type { RefusalWatch } from './refusal-watch.ts'
import { actorOf } from './actor.ts'
import { actAs } from '../lib/acting.ts'
import type { CallContext, CallDoor } from './context.ts'
import { checkRole } from './roles.ts'
import type { Caller, CallerKind } from './caller.ts'

export interface CallRequest {
  readonly tool: AnyTool
  readonly input: unknown
  /** Why a door could not read the input; refused here, so that 401 and 429 come first. */
  readonly inputError?: GatewayError | undefined
  readonly door: CallDoor
  readonly tokens: PresentedTokens
  readonly address: string
  readonly requestId: string
  /** W3C trace context, passed through to the log. */
  readonly traceparent?: string | undefined
  readonly signal: () => AbortSignal
  /** Told how far the work is, in reports that move forward; never after the call has ended. */
  readonly progress?: Progress | undefined
  /** How this door names the tool to a buyer: a URL, and the HTTP method where there is one. */
  readonly resource?: { readonly url: string; readonly method: string } | undefined
  readonly payment?: PresentedPayment | undefined
  readonly signIn?: PresentedSignIn | undefined
  /** The message itself, for a tool that passes HTTP messages on. */
  readonly message?: HttpMessage | undefined
  /** The request and the way its answer goes back, for a tool that answers while it works. */
  readonly exchange?: HttpExchange | undefined
  /** The caller's idempotency key where it stands beside the input; not judged yet. */
  readonly idempotencyKey?: unknown
  /** `X-Gateway-Quote` as sent. */
  readonly quote?: string | undefined
  /**
   * Called once the caller is known, within limits and the input valid, before the handler runs: from here on there is
   * work. What it throws refuses the call.
   */
  readonly onAccepted?: ((caller: Caller) => void | Promise<void>) | undefined
}

export type CallResult =
  | {
      readonly ok: true
      /** As the tool took it: defaults filled in, and nothing there that was left out. */
      readonly input: unknown
      readonly output: unknown
      /** The exact bytes to send and how they were settled, where the call was paid with x402. */
      readonly paid?: PaidResult | undefined
      /** Credits that it took, where any were. */
      readonly credits?: number | undefined
      readonly caller: Caller
      readonly rate?: RateState | undefined
      readonly quota?: QuotaState | undefined
    }
  | {
      readonly ok: false
      readonly error: GatewayError
      readonly caller?: Caller | undefined
      readonly rate?: RateState | undefined
      readonly quota?: QuotaState | undefined
    }

export interface CallPath {
  call(request: CallRequest): Promise<CallResult>
  /**
   * Finds out who asks for something that a door answers itself, such as a list, within the same limits as a call.
   * @param what names the limit
   * @param wanted tells sellers from strangers where it is `seller`, and then needs a service key
   * @param seen told how much of the limit is left
   * @throws {GatewayError} key_invalid, capability_invalid, rate_limited
   */
  admit(
    what: string,
    tokens: PresentedTokens,
    address: string,
    wanted?: 'anyone' | 'seller',
    seen?: { rate?: RateState | undefined },
  ): Promise<Caller>
  /**
   * Most bytes of the body that this caller may send to the tool. Whoever it is is found out, and counted, before they are read.
   * @throws {GatewayError} as `admit`, and capability_required and the like where the tool is not for everybody
   */
  bodyLimit(tool: AnyTool, tokens: PresentedTokens, address: string): Promise<number>
  /**
   * Whether these are somebody's tokens, found out before a large body is read for them.
   * @throws {GatewayError} key_invalid, capability_invalid, rate_limited
   */
  isKnown(tokens: PresentedTokens, address: string): Promise<boolean>
  /**
   * Refuses a large body of a stranger before it is read, where the call could only be refused for its rate.
   * @throws {GatewayError} rate_limited
   */
  refuseSpent(tool: AnyTool, address: string): Promise<void>
  /**
   * The same for a large message, whose tool is not known yet.
   * @param isKnown whether its tokens are somebody's
   * @throws {GatewayError} rate_limited
   */
  refuseSpentMessage(address: string, isKnown: boolean): Promise<void>
  /**
   * Counts a large message before it is parsed: which tool it calls, and counts on, is known only then.
   * @param isKnown whether its tokens are somebody's
   * @throws {GatewayError} rate_limited
   */
  countLargeMessage(address: string, isKnown: boolean): Promise<void>
  /** Calls being handled now; what a drain waits for. */
  readonly inFlight: number
  /** Whether hardly a place is left for another call. */
  readonly isCrowded: boolean
  /** Every call is refused with `draining` from here on. */
  drain(): void
}

export interface CallPathParts {
  /** The services that handlers of the registered tools may reach. */
  readonly services: object
  readonly gate: PaymentGate
  readonly store: AuthenticationStore
  readonly debits: Debits
  /** The 402 of an account whose credits do not suffice. */
  readonly creditsRequired: CreditsRequired
  readonly limiter: RateLimiter
  /** Hides the names in a JSON pointer that must not be repeated to the caller (commerce/secrets/places.ts). */
  readonly hideNames: (pointer: string) => string
  /** Told of every call that is refused: some are security events. */
  readonly refusals?: RefusalWatch
  /** Told how every call ended. */
  readonly watch?: CallWatch
  /** People who look on while calls are decided. */
  readonly decisions?: DecisionWatch
  readonly log: Logger
  readonly now: () => number
  /** Milliseconds that pass, from a clock that nobody sets. */
  readonly elapsedMs: () => number
  /** Treatment of a code that the tool does not document: it is logged, and with `fail` (under test) becomes `internal`. */
  readonly undocumented?: 'log' | 'fail'
  /** Calls of one caller that are handled at once, where nobody else has any; all together may have some more (places.ts). */
  readonly maxInFlight?: number
}

/** Requests a minute where GATEWAY_RATE_LIMIT says nothing. */
export const PER_MINUTE = { anonymous: 300, known: 3000, largeMessages: 600 } as const

/** The one path of every call: who, how often, input, price, work, output, log. Whatever fails is a GatewayError before a door sees it. */
export function createCallPath(parts: CallPathParts): CallPath {
  const maxInFlight = parts.maxInFlight ?? 512
  const places = createPlaces(maxInFlight)
  // Whose a call is has to be found out before it has a place.
  const maxUnknown = placesFor(maxInFlight)
  const runPriced = createPricedRun(parts)
  const isDocumented = createIsDocumented()
  let inFlight = 0
  let draining = false

  /** A refused token belongs to nobody, so what it costs to refuse it is counted on the address it came from. */
  async function identify(wanted: CallerKind, tokens: PresentedTokens, address: string): Promise<Caller> {
    try {
      return await authenticate(wanted, tokens, {
        store: parts.store,
        now: parts.now(),
        address,
      })
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || thrown.status !== 401) throw thrown
      const rate = await parts.limiter.take('refused tokens', address, PER_MINUTE.anonymous)
      throw rate?.exceeded ? rateLimited(rate) : thrown
    }
  }

  /** Agents are counted on the capability that was issued: narrowing it makes no further allowance. */
  const count = (what: string, caller: Caller) => {
    switch (caller.kind) {
      case 'anonymous':
        return parts.limiter.take(what, caller.address, PER_MINUTE.anonymous)
      // Everybody may register, so a key of this kind buys no larger allowance than an address has.
      case 'seller':
        return parts.limiter.take(what, caller.id, PER_MINUTE.anonymous)
      case 'agent':
        return parts.limiter.take(what, caller.capability.rootId, PER_MINUTE.known)
      default:
        return parts.limiter.take(what, caller.id, PER_MINUTE.known)
    }
  }

  /** A code that no document names surprises every caller, so whoever wrote the tool is told. */
  function planned(tool: AnyTool, error: GatewayError): GatewayError {
    if (isDocumented(tool, error.code)) return error
    const reason = `${tool.name} ended in ${error.code}, which nothing documents: add it to its \`errors\``
    parts.log.warn({ [LogField.tool]: tool.name, [LogField.code]: error.code }, reason)
    if (parts.undocumented !== 'fail') return error
    return new GatewayError('internal', reason, { cause: error, reason })
  }

  async function run(
    request: CallRequest,
    seen: Seen,
  ): Promise<RunResult & { readonly caller: Caller; readonly input: unknown }> {
    const { tool } = request
    if (draining)
      throw new GatewayError(
        'draining',
        'This gateway is shutting down. Try again in a few seconds.',
        RETRY_SOON,
      )
    if (inFlight > maxUnknown)
      throw new GatewayError('overloaded', 'Too many calls are being handled. Try again shortly.', RETRY_SOON)

    const caller = await identify(tool.caller, withArgument(request), request.address)
    seen.caller = caller
    const rate = await count(tool.name, caller)
    if (rate) seen.rate = rate
    if (rate?.exceeded) throw rateLimited(rate)
    seen.leave = places.enter(caller)

    checkRole(tool, caller, parts.now())
    if (request.inputError) throw underOwnCode(tool, request.inputError)
    const context: CallContext = {
      ...parts.services,
      now: parts.now,
      newId: (prefix) => newId(prefix, parts.now()),
      caller,
      signal: request.signal,
      door: request.door,
      requestId: request.requestId,
      payment: request.payment,
      signIn: request.signIn,
      message: request.message,
      exchange: request.exchange,
      progress: reportsOf(request, seen),
      quota: (state) => void (seen.quota = state),
    }
    const nullIsAbsent = request.door !== 'rest'
    const keyed = withIdempotencyKey(tool, request.input, request.idempotencyKey, nullIsAbsent)
    const input = parseInput(tool, keyed, {
      hideNames: parts.hideNames,
      repair: tool.repair && (() => tool.repair?.(request.input, context) ?? {}),
      // A program that sends null over REST may have lost a value: that is said to it, and nothing is guessed.
      nullIsAbsent,
    })
    const result = await actAs(actorOf(caller, namesOf(request)), async () =>
      runPriced({
        tool,
        input,
        plan: await tool.plan(input, context),
        context,
        resource: request.resource ?? { url: `urn:agent-gateway:${tool.name}`, method: 'POST' },
        payment: request.payment,
        quote: request.quote,
        idempotencyKey: request.idempotencyKey,
        accept: () => request.onAccepted?.(caller),
      }),
    )
    return { ...result, caller, input }
  }

  return {
    get inFlight() {
      return inFlight
    },
    get isCrowded() {
      return places.isCrowded || inFlight > maxUnknown
    },
    drain() {
      draining = true
    },
    async admit(what, tokens, address, wanted = 'anyone', seen) {
      const caller = await identify(wanted, tokens, address)
      const rate = await count(what, caller)
      if (seen) seen.rate = rate
      if (rate?.exceeded) throw rateLimited(rate)
      return caller
    },
    async bodyLimit(tool, tokens, address) {
      if (!tool.largestBody) return tool.maxBodyBytes
      const caller = await identify(tool.caller, tokens, address)
      const rate = await count(`${tool.name} with a large body`, caller)
      if (rate?.exceeded) throw rateLimited(rate)
      return Math.max(tool.maxBodyBytes, await tool.largestBody(caller, parts.services))
    },
    async isKnown(tokens, address) {
      const wanted = callerOf(tokens)
      if (wanted) await identify(wanted, tokens, address)
      return wanted !== undefined
    },
    async refuseSpent(tool, address) {
      if (await parts.limiter.isSpent(tool.name, address, PER_MINUTE.anonymous)) throw tooManyLarge()
    },
    async refuseSpentMessage(address, isKnown) {
      if (await parts.limiter.isSpent(LARGE_MESSAGES, address, largeMessages(isKnown))) throw tooManyLarge()
    },
    async countLargeMessage(address, isKnown) {
      const rate = await parts.limiter.take(LARGE_MESSAGES, address, largeMessages(isKnown))
      if (rate?.exceeded) throw rateLimited(rate)
    },
    async call(request) {
      const started = parts.elapsedMs()
      const seen: Seen = {}
      inFlight++
      let result: CallResult
      try {
        const { input, output, paid, price, credits, caller } = await run(request, seen)
        seen.price = price
        const { rate, quota } = seen
        const shown = paid || seesBalance(caller) ? output : withoutBalance(output)
        result = { ok: true, input, output: shown, paid, credits, caller, rate, quota }
      } catch (thrown) {
        const { caller, rate, quota } = seen
        const error = planned(request.tool, toGatewayError(thrown))
        const { address, input } = request
        await parts.refusals?.refused({
          ...namesOf(request),
          tokens: withArgument(request),
          address,
          input,
          caller,
          error,
        })
        const shown = seesBalance(caller) ? error : refusalWithoutBalance(error)
        result = { ok: false, error: shown, caller, rate, quota }
      } finally {
        inFlight--
        seen.leave?.()
        seen.endProgress?.()
      }
      const ms = parts.elapsedMs() - started
      parts.watch?.ended(request.tool.name, request.door, result.ok ? undefined : result.error.code, ms)
      const accountId = accountOf(result.caller)
      if (parts.decisions?.isWatched(accountId))
        parts.decisions.decided(accountId, decisionOf(request, result, parts.now(), ms))
      record(parts.log, request, result, seen.price, ms)
      return result
    },
  }
}

function reportsOf({ progress }: CallRequest, seen: Seen): Progress {
  if (!progress) return noProgress
  const { report, end } = forwardOnly(progress)
  seen.endProgress = end
  return report
}

const namesOf = ({ door, tool, requestId }: CallRequest) => ({ door, tool: tool.name, requestId })

/** The facts about a call that are known by the time it ends. */
interface Seen {
  caller?: Caller
  /** Gives the place of the call back. */
  leave?: () => void
  /** Keeps work that goes on from reporting after the answer. */
  endProgress?: () => void
  rate?: RateState
  quota?: QuotaState
  /** The price that was taken, in words for the log. */
  price?: string
}

const rateLimited = ({ limit, resetSeconds }: RateState) =>
  new GatewayError('rate_limited', `At most ${limit} calls a minute. Try again in ${resetSeconds} s.`, {
    extras: { retry_after_seconds: resetSeconds },
  })

const LARGE_MESSAGES = 'large messages'
const largeMessages = (isKnown: boolean) => (isKnown ? PER_MINUTE.known : PER_MINUTE.largeMessages)
const tooManyLarge = () =>
  new GatewayError('rate_limited', 'Too many large requests in a minute. Try again shortly.', {
    extras: { retry_after_seconds: 10 },
  })

const RETRY_SOON = { extras: { retry_after_seconds: 1 } }

const withArgument = ({ tool, input, tokens }: CallRequest) => withTokenArgument(tool, input, tokens)

/** The price that a refused call would have cost, in words for the log. */
const listPrice = (price: Price) => (price.kind === 'credits' ? `${price.credits} credit` : price.kind)

const accountOf = (caller: Caller | undefined) =>
  caller && 'accountId' in caller ? caller.accountId : undefined

function record(
  log: Logger,
  request: CallRequest,
  result: CallResult,
  price: string | undefined,
  ms: number,
): void {
  const error = result.ok ? undefined : result.error
  const level = error?.code === 'internal' ? 'error' : 'info'
  if (!log.isLevelEnabled(level)) return
  const paid = result.ok ? result.paid : undefined
  log[level](
    {
      [LogField.requestId]: request.requestId,
      [LogField.door]: request.door,
      [LogField.tool]: request.tool.name,
      [LogField.caller]: result.caller?.id,
      [LogField.account]: accountOf(result.caller),
      [LogField.code]: error?.code ?? 'ok',
      [LogField.reason]: error?.reason,
      [LogField.attempt]: error?.extras.attempt_id,
      [LogField.claim]: paid?.claimId ?? error?.extras['claim_id'],
      [LogField.price]: price ?? listPrice(request.tool.price),
      [LogField.ms]: Math.round(ms * 10) / 10,
      [LogField.trace]: request.traceparent,
      err: error?.code === 'internal' ? error.cause : undefined,
    },
    'call',
  )
}
