// The story of one edge call: whose host it is, what its merchant allows, what the transaction looks like, then one attempt of
// the egress engine without a credential, paid by the merchant's account. Nothing is charged before all of that holds.
import { digestContent, digestRequest } from '../egress/digest.ts'
import { newAttempt } from '../egress/new-attempt.ts'
import { isSafeMethod, type PreparedRequest, TIMEOUT_MS } from '../egress/request.ts'
import type { Completed, Paid } from '../egress/paid.ts'
import { coversPath } from '../egress/scope.ts'
import { parseTarget } from '../egress/target.ts'
import { ATTEMPT_COST } from '../egress/wire.ts'
import { toReceipt } from '../receipts/types.ts'
import type { CreditCharge } from '../core/credit-charge.ts'
import { GatewayError } from '../core/errors.ts'
import { newId } from '../lib/ids.ts'
import type { Admission } from './admission.ts'
import type { Edge, EdgeReply } from './ports.ts'
import type { HttpMessage } from '../core/message.ts'
import { signEvidence } from './evidence.ts'
import { type HeaderPairs, headersToBuyer, headersToMerchant, joinPairs } from './headers.ts'
import { inspectTransaction, type InspectedRequest } from './inspect.ts'
import type { InspectionRules } from './transaction-check.ts'
import {
  type Consent,
  type ConsentSource,
  type ConsentVerdict,
  type EdgeParts,
  type Inspection,
  MAX_ANSWER_BYTES,
} from './ports.ts'
import {
  merchantHasNoCredits,
  methodNotListed,
  notAuthorized,
  notCovered,
  toBuyer,
  transactionBlocked,
} from './refusals.ts'

export type ForwardParts = Pick<
  EdgeParts,
  | 'runner'
  | 'applyPolicy'
  | 'readPolicy'
  | 'signer'
  | 'idempotencyKey'
  | 'edgeName'
  | 'egressPorts'
  | 'allowSandboxName'
  | 'baseUrl'
  | 'bootId'
  | 'now'
  | 'fault'
> & {
  readonly store: Pick<EdgeParts['store'], 'reserveEdgeCall'>
  readonly consents: ConsentSource
  readonly admission: Admission
  /** Replaces the rules; pure and never throws. */
  readonly inspect?: (request: InspectedRequest, rules: InspectionRules) => Inspection
}

interface Admitted {
  readonly transaction: HttpMessage
  readonly request: PreparedRequest
  readonly consent: Consent
  readonly accountId: string
  readonly inspection: Inspection
  readonly startedAt: number
  readonly consentedAt: number
  readonly charge: CreditCharge
}

/** The tool `gateway.edge.forward`: inspection, consent, charge, one request, receipt. */
export function createEdgeForward(parts: ForwardParts): Edge['forward'] {
  const { runner, now, fault } = parts
  const inspect = parts.inspect ?? inspectTransaction

  return async function forward(transaction, charge) {
    const startedAt = now()
    const request = prepare(transaction)
    const { consent, accountId } = checkConsent(request, await parts.consents.find(request.target.host))
    const consentedAt = now()
    await parts.applyPolicy(request)
    const policy = await parts.readPolicy(accountId)
    const inspection = inspect(toInspected(request), { policy, now: now() })
    if (inspection.findings.some(({ blocks }) => blocks)) throw transactionBlocked(inspection.findings)

    const leave = await parts.admission.enter(accountId)
    try {
      return await deliver({
        charge,
        transaction,
        request,
        consent,
        accountId,
        inspection,
        startedAt,
        consentedAt,
      })
    } finally {
      leave()
    }
  }

  /** The attempt is paid for from here on. */
  async function deliver(admitted: Admitted): Promise<EdgeReply> {
    const { transaction, request, consent, accountId, inspection, startedAt, consentedAt, charge } = admitted
    await fault.at('before_reserve')
    let released: HeaderPairs = []
    const bodyDigest = digestContent(request.body)
    const { attempt, ...reserved } = await reserve(request, bodyDigest, accountId)
    charge.taken(ATTEMPT_COST, attempt.id)
    await fault.at('after_reserve')
    const sentAt = now()
    const paid: Paid = {
      attempt,
      request,
      ...reserved,
      credential: undefined,
      pickHeaders(received) {
        released = headersToBuyer(received, request.target.url)
        return joinPairs(released)
      },
      acceptsEncoded: true,
    }
    let completed: Completed
    try {
      completed = await runner.run(paid)
    } catch (thrown) {
      throw toBuyer(thrown, keyOf(request))
    }
    const evidence = signEvidence(parts, {
      requestId: transaction.requestId,
      attempt,
      bodyDigest,
      consent,
      inspection,
      completed,
      times: { startedAt, consentedAt, sentAt },
    })
    const receipt = toReceipt(parts.baseUrl, completed.receipt)
    return {
      status: completed.response.status,
      headers: [
        ...released,
        ...ownHeaders(parts.edgeName, transaction.requestId),
        ['x-gateway-attempt', attempt.id],
        ['x-gateway-receipt', receipt.jws],
        ['x-gateway-receipt-url', receipt.url],
        ['x-gateway-evidence', evidence],
        ...(attempt.idempotencyKey === null
          ? []
          : [['x-gateway-idempotency-key', attempt.idempotencyKey] as const]),
      ],
      body: completed.response.body,
    }
  }

  /** @throws {GatewayError} target_invalid, header_forbidden, headers_too_large, target_blocked */
  function prepare({ host, path, query, method, headers, body, address }: HttpMessage): PreparedRequest {
    if (host === '' || path === '')
      throw new GatewayError(
        'target_invalid',
        'Name the host of the merchant and the path behind it: /edge/{merchant-host}/{path}.',
        { reason: 'part_missing' },
      )
    const verdict = parseTarget(`https://${host}${path}${query === undefined ? '' : `?${query}`}`, {
      ports: parts.egressPorts,
      allowSandboxName: parts.allowSandboxName,
      asWritten: true,
    })
    if (!verdict.ok && verdict.code === 'target_invalid')
      throw new GatewayError('target_invalid', verdict.detail, { reason: verdict.reason })
    const passed = headersToMerchant(headers, {
      client: address,
      baseUrl: parts.baseUrl,
      name: parts.edgeName,
    })
    if (!verdict.ok) throw new GatewayError('target_blocked', verdict.detail, { reason: verdict.reason })
    return {
      target: verdict,
      method,
      headers: passed,
      body: body.length === 0 ? undefined : body,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
    }
  }

  /** @throws {GatewayError} edge_not_authorized; method_not_allowed for what only a record that lists it allows */
  function checkConsent(
    { target, method }: PreparedRequest,
    verdict: ConsentVerdict,
  ): Extract<ConsentVerdict, { ok: true }> {
    if (method !== DEFAULT_METHOD && !(verdict.ok && verdict.consent.methods.includes(method)))
      throw methodNotListed(verdict.ok ? verdict.consent.methods : [DEFAULT_METHOD])
    if (!verdict.ok) throw notAuthorized(verdict)
    const { paths, methods } = verdict.consent
    if (!paths.some((prefix) => coversPath(prefix, target.path))) throw notCovered('path_not_covered', paths)
    if (!methods.includes(method)) throw notCovered('method_not_covered', methods)
    return verdict
  }

  /** @throws {GatewayError} credits_required */
  async function reserve(
    request: PreparedRequest,
    bodyDigest: string,
    accountId: string,
  ): Promise<Pick<Paid, 'attempt' | 'addresses' | 'balance'>> {
    const addresses = await runner.recall(request, undefined)
    const attempt = newAttempt(parts, {
      kind: 'edge',
      accountId,
      capabilityId: null,
      permitId: null,
      credential: null,
      request,
      digest: digestRequest({
        method: request.method,
        url: request.target.url.href,
        headers: request.headers,
        contentDigest: bodyDigest,
        credentialId: null,
        secretVersion: null,
      }),
      // A request that changes nothing needs no key, and a cache before the merchant would keep an answer for each.
      addsKey: !isSafeMethod(request.method) && keyOf(request) === undefined,
      isSending: addresses !== undefined,
    })
    const reservation = {
      attempt,
      bootId: parts.bootId,
      transactionId: newId('txn', attempt.createdAt),
      cost: ATTEMPT_COST,
      isBudgeted: false,
      now: attempt.createdAt,
    }
    const reserved = await runner.begin(attempt, () => parts.store.reserveEdgeCall(reservation))
    if (!reserved.ok) throw merchantHasNoCredits()
    return { attempt, addresses, balance: reserved.balance }
  }
}

/** What a consent record allows that lists no methods. */
const DEFAULT_METHOD = 'POST'
const NO_BODY = Buffer.alloc(0)

const toInspected = ({ method, target, headers, body }: PreparedRequest): InspectedRequest => ({
  method,
  host: target.host,
  authority: target.url.host,
  path: target.path + target.url.search,
  headers,
  body: body ?? NO_BODY,
})

/** The buyer's own Idempotency-Key, empty or not. */
const keyOf = ({ headers }: PreparedRequest) => headers.find(([name]) => name === 'idempotency-key')?.[1]

/** A page of the merchant is shown under the gateway's address: it gets an origin of its own there. */
const ownHeaders = (name: string, requestId: string): HeaderPairs => [
  ['content-security-policy', 'sandbox'],
  ['x-content-type-options', 'nosniff'],
  ['via', `1.1 ${name}`],
  ['x-request-id', requestId],
]
