// x402: what was signed against what was asked for, the resource against the target, signed offers against the terms beside them.
// The verdicts come from bind-rules.ts, which the payment firewall asks as well; here they get places and words.
import { decodeSegment } from '../checkout.ts'
import { createNetworks, findV1Network, KNOWN_CHAIN_IDS } from '../../core/networks.ts'
import { type Numeral, pickObject, pickText } from '../decode/value.ts'
import { jsonBody, urlOf } from '../message.ts'
import type { Binding, Found, Layer, Message, Place } from '../ports.ts'
import type { Stated } from '../protocol.ts'
import type { X402Authorization, X402Facts, X402Offer, X402Requirement } from './facts.ts'
import { readRequirement } from './read.ts'
import { isFacilitatorRequest, readX402Shape } from './shape.ts'
import { judgeSpender } from './spender.ts'
import { bind, compareHosts, compareResources, isSameAddress, type Verdict } from '../compare.ts'
import {
  findDifference,
  findDomainDifference,
  X402_RULES,
  type X402Member,
  type X402Paid,
  type X402Terms,
} from './bind-rules.ts'

// One for every way to pay, of which there are a few.
const MAX_OFFERS = 32

/** Domains of tokens that are known, served here or not. */
const PINNED = createNetworks(KNOWN_CHAIN_IDS)

/** The payment against what it says, what is asked for, and where it goes. */
export function bindX402({ facts, layer, reading: { message } }: Stated<X402Facts>): Binding[] {
  return [
    ...bindSigned(facts),
    ...bindResources(facts, layer, message),
    ...facts.offers.slice(0, MAX_OFFERS).map((offer) => bindOffer(offer, facts, message)),
    ...bindRequirements(facts, layer, message),
  ]
}

/** A requirement as the rules take it: an amount that is no integer is left out here, and told of where it stands. */
const toTerms = (from: X402Requirement): X402Terms => ({
  scheme: from.scheme?.value,
  network: from.caip2 ?? from.network?.value,
  amount: from.amount?.isInteger === true ? from.amount.value : null,
  asset: from.asset?.value,
  payTo: from.payTo?.value,
  maxTimeoutSeconds: from.maxTimeoutSeconds?.isInteger === true ? Number(from.maxTimeoutSeconds.value) : null,
  extra: from.extra?.value,
})

type Signed = Pick<X402Authorization, 'to' | 'amount' | 'asset'>

const toPaid = (signed: Signed, chosen: X402Requirement | null, accepted: X402Terms | null): X402Paid => ({
  scheme: chosen?.scheme?.value ?? null,
  network: chosen?.caip2 ?? chosen?.network?.value ?? null,
  accepted,
  transfer: {
    to: signed.to?.value ?? null,
    amount: signed.amount?.isInteger === true ? BigInt(signed.amount.value) : null,
    asset: signed.asset?.value ?? null,
  },
})

/** The payment against the requirement that it repeats. */
function bindSigned({ accepted, authorization }: X402Facts): Binding[] {
  if (accepted === null) return []
  const words = ['What was signed pays payTo.', 'What was signed pays somebody else than payTo.'] as const
  return [
    ...(authorization === null
      ? []
      : [
          ...bindTransfer(authorization, toPaid(authorization, accepted, null), accepted, words),
          ...bindSpender(authorization, accepted),
        ]),
    ...bindDomain(accepted, accepted.caip2),
  ]
}

const SPENDER_WORDS: Readonly<Record<Verdict, string>> = {
  match: 'The spender is the proxy of x402, which pays nobody but the witness.',
  partial: 'The spender is a proxy of an earlier release of x402: few facilitators settle through it.',
  mismatch:
    'The spender is not the proxy of x402 for this scheme: it could pay anybody, whatever the witness says.',
  unverifiable: '',
}

/** Who may take the money, and who may ask for it. */
function bindSpender({ spender, facilitator }: X402Authorization, accepted: X402Requirement): Binding[] {
  const found: Binding[] = []
  const scheme = accepted.scheme ?? { value: 'exact', at: accepted.at }
  const verdict = spender === null ? undefined : judgeSpender(spender.value, scheme.value)
  if (spender !== null && verdict !== undefined)
    found.push(bind('spender', verdict, spender.at, scheme.at, SPENDER_WORDS[verdict]))
  const announced = pickText(accepted.extra, 'facilitatorAddress')
  if (facilitator !== null && announced !== null && !isSameAddress(facilitator.value, announced.value))
    found.push(
      bind(
        'offer',
        'mismatch',
        facilitator.at,
        announced.at,
        'The permit lets another facilitator settle than the one that was announced.',
      ),
    )
  return found
}

function bindTransfer(
  signed: Signed,
  paid: X402Paid,
  asked: X402Requirement,
  [same, other]: readonly [string, string],
): Binding[] {
  const terms = toTerms(asked)
  const found: Binding[] = []
  const { to, amount, asset } = signed
  if (to !== null && asked.payTo !== null) {
    const verdict = X402_RULES.pay_to(paid, terms)
    found.push(bind('payee', verdict, to.at, asked.payTo.at, verdict === 'match' ? same : other))
  }
  if (amount !== null && asked.amount !== null) {
    const verdict = X402_RULES.amount(paid, terms)
    found.push(bindAmount(amount, asked.amount, asked.scheme?.value ?? 'exact', verdict))
  }
  if (asset !== null && asked.asset !== null && X402_RULES.asset(paid, terms) === 'mismatch')
    found.push(
      bind(
        'amount',
        'mismatch',
        asset.at,
        asked.asset.at,
        'What was signed spends another token than the asset.',
      ),
    )
  return found
}

function bindAmount(signed: Numeral, asked: Numeral, scheme: string, verdict: Verdict): Binding {
  const result = (is: Verdict, text: string) => bind('amount', is, signed.at, asked.at, text)
  if (!signed.isInteger || !asked.isInteger)
    return result('mismatch', 'One of the two amounts is no integer of the smallest unit.')
  const [paid, due] = [BigInt(signed.value), BigInt(asked.value)]
  return result(verdict, amountWords(verdict, paid < due, scheme, paid === due))
}

function amountWords(verdict: Verdict, isLess: boolean, scheme: string, isEqual: boolean): string {
  if (isEqual) return 'The signed amount is the one that was asked for.'
  if (verdict === 'match') return 'The signed amount covers the one that was asked for.'
  if (verdict === 'partial') return 'The signed amount is more than was asked for.'
  return isLess && scheme !== 'exact'
    ? 'The signed amount is less than was asked for.'
    : 'The signed amount is not the one that was asked for.'
}

/**
 * A known token has one domain: what is signed for another one is worth nothing.
 * @param network that the payment is for
 */
function bindDomain({ asset, extra }: X402Requirement, network: string | null): Binding[] {
  const pinned = network === null ? undefined : PINNED.find(network)?.asset
  if (pinned === undefined || asset === null || extra === null) return []
  if (!isSameAddress(pinned.address, asset.value)) return []
  const different = findDomainDifference(extra.value, pinned, false)
  return different === undefined
    ? []
    : [
        bind(
          'offer',
          'mismatch',
          `${extra.at}/${different}`,
          asset.at,
          'The signing domain is not that of the asset: no signature for it would be valid.',
        ),
      ]
}

function bindResources(facts: X402Facts, layer: Layer, message: Message): Binding[] {
  // v1 names it in every requirement of a challenge.
  const named = new Map<string, Found<string>>()
  if (facts.resource !== null) named.set(facts.resource.value, facts.resource)
  for (const { resource } of facts.accepts)
    if (resource !== null && !named.has(resource.value)) named.set(resource.value, resource)
  return [...named.values()].slice(0, 32).flatMap((resource) => bindResource(resource, facts, layer, message))
}

function bindResource(resource: Found<string>, facts: X402Facts, layer: Layer, message: Message): Binding[] {
  const result = (verdict: Binding['verdict'], other: Place, text: string) =>
    bind('resource', verdict, resource.at, other, text)
  const url = urlOf(message, resource.value)
  const tool = /^mcp:\/\/tool\/([^/?#]+)$/.exec(resource.value)?.[1]
  if (tool !== undefined) {
    if (facts.toolName === null)
      return [
        result(
          'unverifiable',
          '/target',
          'The resource is a tool, and the message does not say which one it calls.',
        ),
      ]
    const isSame = decodeSegment(tool) === facts.toolName.value
    return [
      result(
        isSame ? 'match' : 'mismatch',
        facts.toolName.at,
        isSame
          ? 'The payment is for the tool that is called.'
          : 'The payment is for another tool than the one that is called.',
      ),
    ]
  }
  const target = message.target.url
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url === undefined || !isWeb || target === undefined)
    return [
      result('unverifiable', '/target', 'The resource is no URL that could be compared with the target.'),
    ]
  const found: Binding[] = []
  if (url.protocol === 'http:')
    found.push(bind('scheme_https', 'mismatch', resource.at, '/target', 'The paid resource is plain http.'))
  const verdict = compareResources(target, url)
  // One endpoint serves many resources over MCP and A2A, and a facilitator serves those of others.
  const isEndpoint = layer.transport === 'http' && !isFacilitatorRequest(jsonBody(message)?.value)
  if (!isEndpoint)
    return [
      ...found,
      verdict === 'match'
        ? result('match', '/target', 'The paid resource is the target.')
        : result(
            'unverifiable',
            '/target',
            'The paid resource is not the endpoint that the message goes to.',
          ),
    ]
  found.push(
    result(
      verdict,
      '/target',
      verdict === 'match'
        ? 'The paid resource is the target.'
        : verdict === 'partial'
          ? 'The paid resource differs from the target in its query or scheme.'
          : 'The paid resource is another one than the target.',
    ),
  )
  if (compareHosts(target, url.host) !== 'match' && target.hostname !== url.hostname)
    found.push(
      bind(
        'host',
        'mismatch',
        resource.at,
        '/target',
        'The paid resource is on another host than the target.',
      ),
    )
  return found
}

/** A signed offer is worth what the terms beside it say; a rewritten payTo shows here. */
function bindOffer(offer: X402Offer, facts: X402Facts, message: Message): Binding {
  const { terms } = offer
  if (terms === null)
    return bind('offer', 'unverifiable', offer.at, offer.at, 'The signed offer cannot be read.')
  const beside =
    facts.accepted !== null
      ? [facts.accepted]
      : offer.acceptIndex === null
        ? facts.accepts
        : facts.accepts.slice(offer.acceptIndex.value, offer.acceptIndex.value + 1)
  const other = beside[0]?.at ?? offer.at
  const matching = beside.find((requirement) => agree(terms, requirement))
  if (matching === undefined)
    return bind(
      'offer',
      'mismatch',
      terms.at,
      other,
      'The signed offer has other terms than the requirement it belongs to.',
    )
  const { resourceUrl } = terms
  const target = message.target.url
  if (
    resourceUrl !== null &&
    target !== undefined &&
    (urlOf(message, resourceUrl.value)?.host ?? target.host) !== target.host &&
    facts.resource?.value !== resourceUrl.value
  )
    return bind(
      'offer',
      'mismatch',
      resourceUrl.at,
      '/target',
      'The offer was signed for a resource elsewhere.',
    )
  return bind('offer', 'match', terms.at, matching.at, 'The signed offer has the terms of the requirement.')
}

type Terms = NonNullable<X402Offer['terms']>

function agree(terms: Terms, requirement: X402Requirement): boolean {
  const network = terms.network && (findV1Network(terms.network.value) ?? terms.network.value)
  return (
    isAgreed(terms.scheme, requirement.scheme, (a, b) => a === b) &&
    (network === null || network === (requirement.caip2 ?? requirement.network?.value)) &&
    isAgreed(terms.asset, requirement.asset, isSameAddress) &&
    isAgreed(terms.payTo, requirement.payTo, isSameAddress) &&
    isAgreed(terms.amount, requirement.amount, (a, b) => a === b)
  )
}

/** A member that one of them leaves out cannot differ; payTo and amount are always there. */
function isAgreed(
  one: Found<string> | null,
  other: Found<string> | null,
  isSame: (a: string, b: string) => boolean,
): boolean {
  return one === null || (other !== null && isSame(other.value, one.value))
}

/** A facilitator is sent the payment with the requirement that the seller holds against it. */
function bindRequirements(facts: X402Facts, layer: Layer, message: Message): Binding[] {
  const required = pickObject(jsonBody(message), 'paymentRequirements')
  if (required === null || layer.document === undefined || !layer.document.at.endsWith('/paymentPayload'))
    return []
  const asked = readRequirement(required, facts.version?.value)
  const { accepted: chosen, authorization } = facts
  const accepted =
    chosen !== null && readX402Shape(layer.document.value).choiceIn === 'accepted' ? toTerms(chosen) : null
  // An opaque signature leaves what was accepted.
  const signed: Signed = {
    to: authorization?.to ?? chosen?.payTo ?? null,
    amount: authorization?.amount ?? chosen?.amount ?? null,
    asset: authorization?.asset ?? null,
  }
  const paid = toPaid(signed, chosen, accepted)
  return [
    ...bindTransfer(signed, paid, asked, [
      'The payment pays payTo.',
      'The payment pays somebody else than payTo.',
    ]),
    ...bindChoice(chosen, paid, asked),
    ...bindDomain(asked, paid.network),
  ]
}

/** The requirement that was accepted, and the one that is asked for. */
function bindChoice(chosen: X402Requirement | null, paid: X402Paid, asked: X402Requirement): Binding[] {
  if (chosen === null) return []
  const terms = toTerms(asked)
  const [scheme, network] = [X402_RULES.scheme(paid, terms), X402_RULES.network(paid, terms)]
  const different: X402Member[] = []
  if (scheme === 'mismatch') different.push('scheme')
  if (network === 'mismatch') different.push('network')
  if (different.length === 0 && paid.accepted !== null)
    different.push(...[findDifference(paid.accepted, terms)].filter((name) => name !== undefined))
  if (different.length === 0 && scheme === 'match' && network === 'match')
    return [
      bind('offer', 'match', chosen.at, asked.at, 'The payment takes the requirement that is asked for.'),
    ]
  return different.map((name) =>
    bind(
      'offer',
      'mismatch',
      placeOf(chosen, name),
      placeOf(asked, name),
      `The payment takes another requirement than the one that is asked for: ${name} differs.`,
    ),
  )
}

const placeOf = (requirement: X402Requirement, name: X402Member): Place =>
  requirement[name]?.at ?? requirement.at
