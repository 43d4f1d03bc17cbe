// The story of a paid call of a listing: find it, pick its route, count, price it; then, once it is paid, read what was sent, do the
// work or ask the seller's host, judge the answer.
import type { KeyObject } from 'node:crypto'
import { formatAtomic } from '../../../schemas/money.ts'
import type { MarketCallResult } from '../../../schemas/market-call.ts'
import type { MarketNetwork } from '../../../schemas/market.ts'
import { GatewayError } from '../../core/errors.ts'
import { KNOWN_NETWORKS } from '../../core/networks.ts'
import { noProgress } from '../../core/progress.ts'
import { parseTarget, type TargetOptions } from '../../egress/target.ts'
import { digestCanonical } from '../../lib/canonical-json.ts'
import { LogField, type Logger } from '../../lib/log.ts'
import { must } from '../../lib/must.ts'
import { decodePayment } from '../../payments/wire.ts'
import { allocationOf, acceptedOf, chooseOffer, type Priced, routeName, saleOf, shownOf } from './terms.ts'
import { judgeAnswer } from './answer.ts'
import { pseudonymOf } from './call-token.ts'
import { type CallInput, filledIn, judgeInput, readInput, writeBody, writeQuery } from './input.ts'
import { createCallLimits } from './limits.ts'
import { readPath, type Segment } from './path.ts'
import type {
  AskedCall,
  CallerFacts,
  Listings,
  MarketCalls,
  OfferedVersion,
  OwnWork,
  PlannedCall,
  Sold,
} from './ports.ts'
import { type MatchedRoute, matchRoute } from './routes.ts'
import type { Recorder } from '../trust/recorder.ts'
import type { ListingRoute, PaymentClaim, ServiceFailure } from '../../store/ports.ts'
import { callUpstream, type UpstreamParts } from './upstream.ts'
import { showAnswer } from './shown-answer.ts'

export interface MarketCallParts extends UpstreamParts {
  readonly listings: Listings
  /** Work of our own listings, by service. */
  readonly ownWork: Readonly<Record<string, OwnWork>>
  readonly recorder: Pick<Recorder, 'record'>
  /** The operator has switched rate limits off. */
  readonly hasNoLimits: boolean
  /** Ports that sellers' hosts may be on, and whether the sample site may be one. */
  readonly rules: TargetOptions
  /** Makes pseudonyms of payers. */
  readonly payerKey: KeyObject
  readonly log: Logger
}

const TOOL = 'gateway.marketplace.call'
type RunContext = Parameters<PlannedCall['run']>[0]
export const TEST_NETWORK: MarketNetwork = 'eip155:84532'

export function createMarketCalls(parts: MarketCallParts): MarketCalls {
  const { listings, now } = parts
  const limits = createCallLimits({ isOff: parts.hasNoLimits, now })

  async function plan(asked: AskedCall, facts: CallerFacts) {
    const { sellerId, serviceId, network } = asked
    const segments = readPath(asked.path)
    if (!segments)
      throw new GatewayError(
        'request_invalid',
        'Write the path as the listing has it: no dot segments, no empty ones, nothing escaped that needs no escape.',
        { reason: 'path' },
      )
    const sold = await listings.find(sellerId, serviceId)
    if (!sold || !isShown(sold, network)) throw notFound()
    const isPaying = facts.payment !== undefined
    const { maxRequestsPerMinute } = sold.current.document
    const counted = `${network} ${sellerId}/${serviceId}`
    const { address } = facts.caller
    const unavailable = findUnavailability(sold, network)
    if (unavailable && !isPaying) throw unavailable
    limits.asked(counted, maxRequestsPerMinute, { address, isPaying })

    const matched = findRoute(sold, asked, segments)
    const { route } = matched
    const accepted = facts.payment && decodePayment(facts.payment)
    const chosen = chooseOffer(openOffers(sold, route, isPaying), accepted && acceptedOf(accepted))
    if (asked.method === 'HEAD' && route.method !== 'HEAD' && isPaying)
      throw new GatewayError(
        'method_not_allowed',
        'HEAD says the price and pays for nothing: pay with GET.',
        {
          extras: { allow: ['GET'] },
        },
      )
    const allocation = allocationOf(chosen)
    const priced = { sold, priced: chosen, allocation }
    const reading = isPaying ? read(matched, asked, facts) : undefined
    const service = { sellerId, serviceId, environment: network === TEST_NETWORK ? 'test' : 'live' } as const
    let latencyMs = 0

    return {
      charge: {
        amountAtomic: allocation.grossAtomic,
        networks: [network],
        requestDigest: reading?.digest ?? '',
        shown: shownOf({ ...priced, network, isDirect: facts.message !== undefined }),
        sale: saleOf(priced),
        check() {
          if (unavailable) throw unavailable
          judgeInput(matched, inputOf(reading))
          const url = urlOf(sold, matched, inputOf(reading))
          const verdict = url === undefined ? undefined : parseTarget(url, parts.rules)
          if (verdict && !verdict.ok && verdict.code === 'target_invalid')
            throw new GatewayError(
              'input_invalid',
              `The path or the query cannot be sent on: ${verdict.detail}`,
              {
                reason: verdict.reason,
              },
            )
        },
        onSettled({ id: claimId, payer, amount }: PaymentClaim) {
          const isSelf = payer === sold.payoutAddress
          parts.recorder.record({
            ...service,
            kind: 'settled',
            claimId,
            payer,
            amount: Number(amount),
            latencyMs,
            isSelf,
          })
        },
      },
      async run({ claimId, progress = noProgress }: RunContext): Promise<MarketCallResult> {
        const leave = limits.begun(counted, sellerId, maxRequestsPerMinute)
        progress({ done: 1, total: 2, message: 'The service is asked' })
        const startedAt = now()
        const upstream = await work(sold, matched, inputOf(reading), {
          claimId,
          network,
          amountAtomic: allocation.grossAtomic,
          payer: accepted ? pseudonymOf(parts.payerKey, sellerId, accepted.payer) : '',
          failed: (kind) => parts.recorder.record({ ...service, kind }),
        }).finally(leave)
        latencyMs = now() - startedAt
        progress({ done: 2, total: 2, message: 'The service has answered' })
        return {
          seller: sellerId,
          service_id: serviceId,
          version: chosen.version,
          route: routeName(route),
          words_of_seller: true,
          upstream,
          cost: {
            amount_atomic: String(allocation.grossAtomic),
            amount: formatAtomic(allocation.grossAtomic),
            currency: 'USDC',
            decimals: 6,
            network,
            platform_fee_atomic: String(allocation.platformFeeAtomic),
            seller_proceeds_atomic: String(allocation.sellerProceedsAtomic),
            claim_id: claimId,
            revenue: isRevenue(network) && parts.signer.environment === 'production',
          },
        }
      },
    }
  }

  async function work(
    sold: Sold,
    matched: MatchedRoute,
    input: CallInput,
    call: {
      readonly claimId: string
      readonly network: string
      readonly amountAtomic: bigint
      readonly payer: string
      readonly failed: (kind: ServiceFailure) => void
    },
  ): Promise<MarketCallResult['upstream']> {
    const { failed, ...facts } = call
    const { route } = matched
    const own = sold.accountId === null ? parts.ownWork[sold.serviceId] : undefined
    if (sold.accountId === null) {
      if (!own) throw new Error(`nothing does the work of ${sold.serviceId}`)
      try {
        const json = await own(filledIn(route, input))
        return { status: 200, headers: { 'content-type': 'application/json' }, json }
      } catch (thrown) {
        failed('answer')
        throw thrown
      }
    }
    const target = targetOf(sold.current, matched, input)
    const sent = await callUpstream(parts, {
      sold,
      version: sold.current,
      route,
      target,
      body: writeBody(input),
      ...facts,
    })
    if (!sent.ok) {
      if (sent.fault !== null) failed(sent.fault)
      throw note(sold, call, sent.error)
    }
    const verdict = judgeAnswer(route, sent.answer)
    if (!verdict.ok) {
      failed(verdict.fault)
      const words = `The service ${verdict.words}. Nothing was charged; the same payment can be used again.`
      throw note(sold, call, new GatewayError('service_failed', words, { reason: verdict.reason }))
    }
    return showAnswer(sent.answer, verdict)
  }

  function note(
    { sellerId, serviceId }: Sold,
    { claimId }: { readonly claimId: string },
    error: GatewayError,
  ): GatewayError {
    parts.log.info(
      {
        event: 'market_call_failed',
        seller: sellerId,
        service: serviceId,
        [LogField.claim]: claimId,
        reason: error.reason,
      },
      'a service failed a paid call',
    )
    return error
  }

  return { plan }
}

/** Drafts and what waits for approval are known to nobody but who calls them with test money. */
const isShown = ({ state }: Sold, network: MarketNetwork) =>
  network === TEST_NETWORK ? state !== 'retired' : state !== 'draft' && state !== 'pending'

function findUnavailability(
  { state, stateReason, isProven, sellerId, serviceId, current }: Sold,
  network: MarketNetwork,
) {
  const isOpen =
    isProven &&
    (state === 'active' || (network === TEST_NETWORK && (state === 'draft' || state === 'pending')))
  // Whoever has test money would have the answers that others pay for.
  if (isOpen && network === TEST_NETWORK && state === 'active' && current.document.takesTestMoney !== true)
    return new GatewayError(
      'service_unavailable',
      `The service ${sellerId}/${serviceId} is sold for real money, and its seller takes no test money for it. Nothing was charged.`,
      { reason: 'test_money', extras: { state } },
    )
  if (isOpen) return undefined
  if (!isProven)
    return new GatewayError(
      'service_unavailable',
      `The host of ${sellerId}/${serviceId} is not proven to be its seller's yet: nothing is sent to it, and nothing was charged.`,
      { reason: 'unproven', extras: { state } },
    )
  // What the operator wrote is for the seller; what the seller wrote is for buyers, as theirs.
  const why =
    state === 'paused' && stateReason !== null
      ? `, with the words “${stateReason.replaceAll(/[“”]/g, '"')}”`
      : ''
  return new GatewayError(
    'service_unavailable',
    `The service ${sellerId}/${serviceId} is ${state}${why}. It is not sold now, and nothing was charged.`,
    { reason: state, extras: { state } },
  )
}

/** @throws {GatewayError} not_found, method_not_allowed */
function findRoute({ current }: Sold, asked: AskedCall, segments: readonly Segment[]): MatchedRoute {
  const matched = matchRoute(current.document.routes, asked.method, segments)
  if (matched.ok) return matched
  if (matched.allow.length === 0)
    throw new GatewayError('not_found', `The service has no such route. It has ${namesOfRoutes(current)}.`)
  throw new GatewayError('method_not_allowed', `Use ${matched.allow.join(' or ')} at this route.`, {
    extras: { allow: matched.allow.includes('GET') ? [...matched.allow, 'HEAD'] : [...matched.allow] },
  })
}

const MAX_NAMED_ROUTES = 8

/** Whoever asks the bare endpoint of a service without a route there learns where to go on. Paths are percent-encoded ASCII or `{names}`. */
function namesOfRoutes({ document: { routes } }: OfferedVersion): string {
  const named = routes.slice(0, MAX_NAMED_ROUTES).map(({ method, path }) => `${method} ${path}`)
  const others = routes.length - named.length
  return `${named.join(', ')}${others > 0 ? ` and ${others} more: its listing has them all` : ''}`
}

/**
 * Every offer of this very route that may be open. It keeps its price and its fee; what is judged and who is asked is today's: a host that
 * was left is not called any more.
 */
function openOffers(
  { current, earlier, fees }: Sold,
  { path, method }: ListingRoute,
  isPaying: boolean,
): readonly [Priced, ...Priced[]] {
  const offersOf = ({ version, document }: OfferedVersion) =>
    document.routes
      .filter((route) => route.path === path && route.method === method)
      .flatMap((route) => fees.map((fee) => ({ version, route, fee })))
  const [first, ...others] = (isPaying ? [current, ...earlier] : [current]).flatMap(offersOf)
  return [must(first, 'the offer of a route that was found'), ...others]
}

type Reading = { readonly digest: string } & (
  { readonly ok: true; readonly input: CallInput } | { readonly ok: false; readonly error: GatewayError }
)

/** What was sent, or why it cannot be read: said once nothing that was paid before answers it. */
function read(matched: MatchedRoute, asked: AskedCall, { message }: CallerFacts): Reading {
  const { sellerId, serviceId, network } = asked
  const request = {
    tool: TOOL,
    seller: sellerId,
    service_id: serviceId,
    network,
    route: routeName(matched.route),
  }
  try {
    const input = readInput(matched, asked, message)
    const { values, body = null } = input
    return { ok: true, input, digest: digestCanonical({ ...request, path: matched.path, values, body }) }
  } catch (thrown) {
    const error =
      thrown instanceof GatewayError
        ? thrown
        : new GatewayError(
            'input_invalid',
            'The input has no canonical form (RFC 8785): a text holds half a surrogate pair, or a number is too large for a double.',
            { cause: thrown },
          )
    const unread = { path: asked.path, query: message?.query ?? '', reason: error.message }
    return { ok: false, error, digest: digestCanonical({ ...request, unread }) }
  }
}

function inputOf(reading: Reading | undefined): CallInput {
  if (!reading) throw new Error('work without a payment')
  if (!reading.ok) throw reading.error
  return reading.input
}

const isRevenue = (id: string) => KNOWN_NETWORKS.some(({ network, revenue }) => network === id && revenue)

const targetOf = ({ document }: OfferedVersion, matched: MatchedRoute, input: CallInput) =>
  document.basePath + matched.path + writeQuery(matched, input)

/** Undefined where the work is done here. */
const urlOf = ({ current }: Sold, matched: MatchedRoute, input: CallInput) =>
  current.document.origin === '' ? undefined : current.document.origin + targetOf(current, matched, input)

/** The reason goes to the log, which keeps no word of a caller's: somebody's key may stand where an id belongs. */
const notFound = () =>
  new GatewayError(
    'service_not_found',
    'No such service is sold here. gateway.marketplace.search lists those that are; ids are lower case.',
    { reason: 'not_sold' },
  )
