// The story of one exchange: whose it is and where it goes, its body, debit and row, then one request out. What becomes of the answer is
// answer.ts; both end in the receipt of one attempt.
import type { CreditCharge } from '../../core/credit-charge.ts'
import { GatewayError } from '../../core/errors.ts'
import type { HttpExchange } from '../../core/message.ts'
import { LogField, type Logger } from '../../lib/log.ts'
import { must } from '../../lib/must.ts'
import type { Signer } from '../../receipts/ports.ts'
import type { CredentialCapability, HeldCapability, Store } from '../../store/ports.ts'
import { capabilityGrant } from '../capability-grant.ts'
import { digestRequest } from '../digest.ts'
import { createEndings, type EndingParts } from '../endings.ts'
import type { CheckedRequest } from '../grant.ts'
import { type Call, createKeyedCalls } from '../idempotency/keyed-call.ts'
import { replay } from '../idempotency/replay.ts'
import type { LargeCalls } from '../limits/large-calls.ts'
import type { Paid } from '../paid.ts'
import type { Egress, StreamResult, StreamSender } from '../ports.ts'
import type { Providers } from '../providers/index.ts'
import { capabilityGone, credentialGone, providerGone } from '../refusals.ts'
import { checkScopes } from '../request.ts'
import { createReserve, type RepeatedCall, type ReserveParts } from '../reserve.ts'
import type { Revocations } from '../revocations.ts'
import type { Runner } from '../run.ts'
import { hasRules, judgeRequest } from '../rules/judge.ts'
import { createAnswers } from './answer.ts'
import { approvedGrant, type ApprovedRequest, type AskPeople, askIfRuled } from './ask.ts'
import { addressOf } from './credential.ts'
import { leadThroughBase } from './endpoint-event.ts'
import { joinPairs, pickAnswerHeaders } from './headers.ts'
import { pickKeptHeaders } from './length.ts'
import type { Relay, Relayed } from './ports.ts'
import { createFindRedirect, type FindRedirect } from './redirect.ts'
import { comparedPart, digestedPart, KEY_HEADER, prepareExchange, rulesOf } from './prepare.ts'
import { countSent, readBody, type ReadBody } from './request-body.ts'
import { createStreamLimits } from './streams.ts'
import { createWebSockets } from './websocket/index.ts'
import { ATTEMPT_COST } from '../wire.ts'
import { againIfReplaced } from '../withdrawal.ts'

export interface RelayParts extends ReserveParts, EndingParts {
  readonly providers: Providers
  readonly store: Pick<
    Store,
    | 'getCredential'
    | 'findParts'
    | 'findCapabilityById'
    | 'reserveAttempt'
    | 'getReceipt'
    | 'keepReplayReceipt'
    | 'findKeyRecord'
    | 'listStanding'
  >
  readonly capabilityFor: Egress['capabilityFor']
  readonly runner: Pick<Runner, 'recall' | 'begin' | 'ready'>
  readonly sender: StreamSender
  readonly revocations: Pick<Revocations, 'watch'>
  /** Bodies that are read whole count there. */
  readonly large: LargeCalls
  /** Shows a request to people and waits for them. */
  readonly askPeople: AskPeople
  readonly signer: Signer
  readonly egressPorts: readonly number[]
  readonly allowSandboxName: boolean
  readonly messageHoldMs?: number | undefined
  readonly log: Logger
}

/**
 * An upstream that answers so did nothing and may be asked again, which libraries do by themselves and under the same key: an answer that was kept
 * would put them off for a day. The upstream sees their key, and tells a repeat from another request by it.
 */
const PUTTING_OFF = [408, 409, 425, 429, 503] as const

export function createRelay(parts: RelayParts): Relay {
  const { store, runner, sender, revocations } = parts
  const limits = createStreamLimits()
  const keyedCall = parts.callerKeys && createKeyedCalls(parts.callerKeys)
  const reserve = createReserve(parts)
  const endings = createEndings(parts)
  const answers = createAnswers({ ...parts, endings })
  const webSockets = createWebSockets({ ...parts, endings })

  return {
    async relay(exchange, held, charge) {
      const leave = limits.enter(held.accountId, held.rootId)
      const room = parts.large.hold(held.accountId)
      try {
        return await pass(exchange, held, charge, room.reach)
      } finally {
        room.leave()
        leave()
      }
    },
    watchRevocation: (capabilityId, expiresAt) => revocations.watch(capabilityId, expiresAt),
  }

  async function pass(
    asked: HttpExchange,
    held: HeldCapability,
    charge: CreditCharge,
    hold: (bytes: number) => void,
  ): Promise<Relayed> {
    const { capability, url } = await addressOf(parts, asked, held)
    const exchange = behindBase(asked, url)
    const findRedirect = createFindRedirect(asked, url)
    const { credential, ...rules } = await bodyRules(capability)
    const body = await readBody(exchange, { ...rules, hold })
    const current = () => prepare(url, exchange, body, capability)
    const own = keyOf(exchange)
    const key =
      own === undefined ? undefined : { key: own, scope: `${capability.rootId}/relay`, freedBy: PUTTING_OFF }
    const isRuled = hasRules({ capability, credential })
    const repeat = isRuled && key ? await findRepeat(key, capability, await current()) : undefined
    if (repeat) return await again(repeat, exchange, charge, findRedirect)
    const approved = isRuled
      ? await askWhileItStands({
          prepare: current,
          capability,
          isWhole: !body.streamed,
          signal: exchange.signal,
        })
      : undefined
    return await againIfReplaced(charge, async () => {
      await parts.fault.at('before_reserve')
      const reserved = await reserve({
        grant: approved
          ? approvedGrant(store, await asItStands(capability), approved)
          : capabilityGrant(store, capability),
        prepare: current,
        key,
        // The program's own is among its headers.
        addsKey: () => false,
        digested: comparedPart,
      })
      if (!reserved.ok) return await again(reserved, exchange, charge, findRedirect)
      charge.taken(ATTEMPT_COST, reserved.attempt.id)
      await parts.fault.at('after_reserve')
      const watched = revocations.watch(capability.id)
      try {
        return await send(reserved, exchange, body, { findRedirect, revoked: watched.signal })
      } finally {
        watched.leave()
      }
    })
  }

  /** What is revoked while people are asked is no question any more: it leaves the inbox, and whoever waits hears why. */
  async function askWhileItStands(
    asked: Parameters<typeof askIfRuled>[1],
  ): Promise<ApprovedRequest | undefined> {
    const { id, expiresAt } = asked.capability
    const watched = revocations.watch(id, expiresAt)
    const signal = AbortSignal.any([asked.signal, watched.signal])
    try {
      return await askIfRuled(parts.askPeople, { ...asked, signal })
    } catch (thrown) {
      throw watched.signal.aborted ? capabilityGone('capability_gone') : thrown
    } finally {
      watched.leave()
    }
  }

  async function again(
    { keyed, record }: Pick<RepeatedCall, 'keyed' | 'record'>,
    exchange: HttpExchange,
    charge: CreditCharge,
    findRedirect: FindRedirect,
  ): Promise<Relayed> {
    const { attempt, answer, receipt } = await replay(parts, keyed, record)
    charge.repeated(attempt.id)
    return answers.replay({ sink: exchange.answer, findRedirect, attempt, answer, receipt: receipt.jws })
  }

  /** What was sent under the program's key before: nobody is asked about it a second time, since nothing goes out. */
  async function findRepeat(
    key: Pick<Call, 'key' | 'scope' | 'freedBy'>,
    capability: CredentialCapability,
    checked: CheckedRequest | undefined,
  ): Promise<Pick<RepeatedCall, 'keyed' | 'record'> | undefined> {
    if (!checked || !keyedCall) return undefined
    const { request, credential, provider } = checked
    checkScopes(request, { capability, credential, provider })
    judgeRequest(request, { capability, credential })
    const keyed = keyedCall({
      ...key,
      request: comparedPart(request),
      credentialId: credential.id,
      credentialVersion: credential.version,
    })
    const record = await store.findKeyRecord({ ...keyed.claim, now: parts.now() })
    return record && { keyed, record }
  }

  /**
   * The capability after people were waited for: its connection may have other terms by now, or a person who may not connect any more.
   * @throws {GatewayError} capability_invalid
   */
  async function asItStands({
    id,
    accountId,
    credentialId,
  }: CredentialCapability): Promise<CredentialCapability> {
    const [found, standing] = await Promise.all([
      store.findCapabilityById(id, accountId),
      store.listStanding([id]),
    ])
    if (!found || standing.length === 0) throw capabilityGone('capability_gone')
    return { ...found, credentialId }
  }

  async function bodyRules(capability: CredentialCapability) {
    const credential = await store.getCredential(capability.credentialId, capability.accountId)
    if (!credential || credential.revokedAt !== null) throw credentialGone()
    const { maxRequestBytes: maxBytes, readsWhole: isWhole } = rulesOf(credential)
    return { maxBytes, isWhole, credential }
  }

  async function prepare(
    url: string,
    exchange: HttpExchange,
    body: ReadBody,
    { credentialId, accountId }: CredentialCapability,
  ): Promise<CheckedRequest | undefined> {
    const credential = await store.getCredential(credentialId, accountId)
    if (!credential || credential.revokedAt !== null) return undefined
    const provider = parts.providers.get(credential.provider)
    if (!provider) throw providerGone(credential.provider)
    const rules = rulesOf(credential)
    if (rules.readsWhole && body.streamed)
      throw new GatewayError('state_conflict', 'The credential is being replaced right now. Try again.')
    const request = prepareExchange({ url, exchange, body }, rules, {
      ports: parts.egressPorts,
      allowSandboxName: parts.allowSandboxName,
      settings: credential.settings,
      accountHeaders: provider.account_headers,
    })
    const { method, headers, target, body: whole, contentDigest } = digestedPart(request)
    const digest = digestRequest({
      method,
      url: target.url.href,
      headers,
      body: whole,
      contentDigest,
      credentialId: credential.id,
      secretVersion: credential.version,
    })
    return { request, credential, provider, digest }
  }

  async function send(
    reserved: Paid,
    exchange: HttpExchange,
    body: ReadBody,
    { findRedirect, revoked }: { readonly findRedirect: FindRedirect; readonly revoked: AbortSignal },
  ): Promise<Relayed> {
    const { upgrade: program } = exchange
    const rules = rulesOf(must(reserved.credential, 'the credential of an exchange'), program !== undefined)
    const paid: Paid = {
      ...reserved,
      pickHeaders: (received) => joinPairs(pickAnswerHeaders(received, rules)),
      pickKept: (received) => pickKeptHeaders(received, { method: reserved.request.method, rules }),
    }
    const ready = await runner.ready(paid)
    const { message, addresses, reach, tls, partition, findWithdrawal, answered } = ready
    const sent = countSent({ ...body, whole: message.body }, rules.maxRequestBytes)
    // Once the request is on its way: the first bytes of the answer do not wait for it then.
    setImmediate(() => ready.opened?.gate().prepare?.())
    const result = await sender.open({
      method: paid.request.method,
      url: paid.request.target.url,
      target: message.target,
      headers: message.headers,
      body: sent.body,
      addresses,
      reach,
      tls,
      partition,
      findWithdrawal,
      clocks: rules.clocks,
      signal: AbortSignal.any([exchange.signal, revoked]),
      takesPart: paid.request.range !== undefined,
      ...(program && { upgrade: 'websocket' }),
    })
    if (!result.ok) return await fail(paid, result, revoked)
    if (result.upgraded) {
      const { upgraded } = result
      // Without a program that asked for it there is none; the adapter asked for nothing then.
      return await webSockets.pass({
        paid,
        rules,
        answered,
        upgraded,
        program: must(program, 'a program'),
        revoked,
      })
    }
    const received = result.answer
    try {
      const { answer: sink } = exchange
      return await answers.pass({ paid, rules, sent, answered, received, sink, findRedirect, revoked })
    } catch (thrown) {
      if (thrown instanceof GatewayError) throw thrown
      // A defect of ours: the attempt has an end all the same, and nobody takes what was passed on for the whole.
      parts.log.error(
        { [LogField.attempt]: paid.attempt.id, err: thrown },
        'an answer could not be passed on',
      )
      received.cancel()
      exchange.answer.abort()
      return await endings.fail(paid, { phase: 'after_send', reason: 'malformed' })
    }
  }

  function fail(
    paid: Paid,
    failure: Extract<StreamResult, { ok: false }>,
    { aborted: isRevoked }: AbortSignal,
  ): Promise<never> {
    if (failure.phase !== 'aborted') return endings.fail(paid, failure)
    return endings.fail(paid, {
      phase: failure.isSent ? 'after_send' : 'before_send',
      reason: isRevoked ? 'revoked' : 'client_closed',
    })
  }
}

function behindBase(exchange: HttpExchange, url: string): HttpExchange {
  const { target } = exchange
  if (!('base' in target) || target.base === undefined) return exchange
  return { ...exchange, answer: leadThroughBase(exchange.answer, { base: target.base, url }) }
}

/** What a program calls its request by, in its own words. */
function keyOf({ headers }: HttpExchange): string | undefined {
  const value = headers.find(([name]) => name.toLowerCase() === KEY_HEADER)?.[1].trim()
  return value === '' ? undefined : value
}
