// Signed quotes: what one exact request costs, for 300 seconds. They verify without a row and are stored only when
// somebody asks for one.
import { formatAtomic, QUOTE_SECONDS } from '../../schemas/money.ts'
import { GatewayError } from '../core/errors.ts'
import { toCanonicalJson } from '../lib/canonical-json.ts'
import { newId } from '../lib/ids.ts'
import { JWS_TYPES } from '../receipts/types.ts'
import type { Signer } from '../receipts/ports.ts'
import { createNetworks, KNOWN_CHAIN_IDS } from '../core/networks.ts'
import { must } from '../lib/must.ts'
import { MIN_QUOTE_ROOM } from './head-size.ts'

/** A quote travels in a header; what covers a longer request is the digest. */
const MAX_QUOTED_REQUEST_CHARS = 2560
const MAX_PRESENTED_CHARS = 8192

export interface QuoteParts {
  readonly signer: Signer
  readonly verifyOwn: (jws: string, typ: string) => Readonly<Record<string, unknown>> | undefined
  readonly payTo: string | undefined
  readonly baseUrl: string
  readonly isSandbox: boolean
  readonly now: () => number
}

/** One exact request and its price. */
export interface Quotable {
  readonly tool: string
  /** Normalised request, canonical JSON; what is too long is quoted as `shorter`. */
  readonly request: Readonly<Record<string, unknown>>
  readonly shorter?: Readonly<Record<string, unknown>> | undefined
  /** base64url SHA-256 over the RFC 8785 form of the normalised request. */
  readonly digest: string
  /** CAIP-2. */
  readonly network: string
  readonly amountAtomic: bigint
  /** Further members of the quote, the same for every request of this tool. */
  readonly facts?: Readonly<Record<string, unknown>> | undefined
}

export interface Quote {
  readonly id: string
  readonly jws: string
  readonly issuedAt: number
  readonly expiresAt: number
}

export const SANDBOX_NOTICE = 'SANDBOX: test money and test keys only'

const pinned = createNetworks(KNOWN_CHAIN_IDS)

/** Terms that say what is paid where: the same members in quotes, quote answers, preflights and costs. */
export function termsOf(
  { payTo, isSandbox }: Pick<QuoteParts, 'payTo' | 'isSandbox'>,
  { network, amountAtomic }: Pick<Quotable, 'network' | 'amountAtomic'>,
) {
  const { asset, revenue } = must(
    pinned.find(network),
    'a network that a tool is sold on among the pinned ones',
  )
  return {
    scheme: 'exact',
    network,
    asset: asset.address,
    amount_atomic: amountAtomic.toString(),
    amount: formatAtomic(amountAtomic),
    currency: 'USDC',
    decimals: asset.decimals,
    pay_to: payTo ?? null,
    environment: isSandbox ? 'sandbox' : revenue ? 'production' : 'test',
    testnet: !revenue,
    // A sandbox asks for what looks like real money, and earns nothing.
    revenue: revenue && !isSandbox,
  } as const
}

export function createQuotes(parts: QuoteParts) {
  const { signer, baseUrl, now } = parts
  const frames = new Map<string, ReturnType<typeof buildFrame>>()

  /** Part that does not change from quote to quote: a quote is made for every unpaid call. */
  function frameOf(quotable: Quotable) {
    const key = `${quotable.tool} ${quotable.network} ${quotable.amountAtomic}`
    let frame = frames.get(key)
    if (!frame) frames.set(key, (frame = buildFrame(quotable)))
    return frame
  }

  function buildFrame(quotable: Quotable) {
    const { tool, facts } = quotable
    const terms = termsOf(parts, quotable)
    const notice = parts.isSandbox ? { notice: SANDBOX_NOTICE } : {}
    const brief = inOrder({ ...OWN, ...terms, ...notice, iss: baseUrl, tool })
    const document = inOrder({ ...brief, ...facts })
    const withLength = (told: Document) => ({ told, chars: sign(quotable, told, null).jws.length })
    return { terms, document, forms: [withLength(document), withLength(brief)] }
  }

  function issue(quotable: Quotable): Quote {
    const { request, shorter } = quotable
    const fits = JSON.stringify(request).length <= MAX_QUOTED_REQUEST_CHARS
    return sign(quotable, frameOf(quotable).document, fits ? request : (shorter ?? null))
  }

  /** A quote of so many characters: facts leave it first, and then the request, which its digest says as well. */
  function issueWithin(quotable: Quotable, room: number): Quote {
    const { request, shorter } = quotable
    const { forms } = frameOf(quotable)
    const [, brief] = forms
    for (const part of [request, shorter]) {
      if (part === undefined) continue
      // The place of the request holds `null` while it is measured; base64url is a third longer than what it says.
      const more = Math.ceil(((Buffer.byteLength(JSON.stringify(part)) - 'null'.length) * 4) / 3) + 1
      const form = forms.find(({ chars }) => chars + more <= room)
      if (form) return sign(quotable, form.told, part)
    }
    return sign(quotable, must(brief, 'the brief form of a quote').told, null)
  }

  function sign(
    { digest }: Pick<Quotable, 'digest'>,
    document: Document,
    request: Quotable['request'] | null,
  ): Quote {
    const issuedAt = now()
    const expiresAt = issuedAt + QUOTE_SECONDS * 1000
    const id = newId('qte', issuedAt)
    const jws = signer.sign(JWS_TYPES.quote, {
      ...document,
      exp: Math.floor(expiresAt / 1000),
      expires_at: new Date(expiresAt).toISOString(),
      iat: Math.floor(issuedAt / 1000),
      issued_at: new Date(issuedAt).toISOString(),
      jti: id,
      quote_id: id,
      request,
      request_digest: digest,
    })
    return { id, jws, issuedAt, expiresAt }
  }

  return {
    issue,
    /**
     * The quote that applies to a request: the one that was presented while it holds, else a new one.
     * @param room characters that a new one may have
     * @throws {GatewayError} quote_invalid when what was presented is no quote of ours, or of another request
     */
    accept(
      quotable: Quotable,
      presented: string | undefined,
      room = MIN_QUOTE_ROOM,
    ): Pick<Quote, 'jws' | 'expiresAt'> {
      if (presented === undefined) return issueWithin(quotable, room)
      const payload =
        presented.length <= MAX_PRESENTED_CHARS ? parts.verifyOwn(presented, JWS_TYPES.quote) : undefined
      if (!payload) throw refused('X-Gateway-Quote is not a quote that this gateway signed.', 'not_a_quote')
      if (payload['tool'] !== quotable.tool || payload['request_digest'] !== quotable.digest)
        throw refused('X-Gateway-Quote is for another request: this one differs from it.', 'other_request')
      const expiresAt = Date.parse(String(payload['expires_at']))
      const { amount_atomic, network, asset, pay_to } = frameOf(quotable).terms
      const stands =
        payload['amount_atomic'] === amount_atomic &&
        payload['network'] === network &&
        payload['asset'] === asset &&
        payload['pay_to'] === pay_to
      return stands && now() < expiresAt ? { jws: presented, expiresAt } : issueWithin(quotable, room)
    },
  }
}
export type Quotes = ReturnType<typeof createQuotes>

type Document = Readonly<Record<string, unknown>>

/** The members of one quote alone, so that they have their places in the document. */
const OWN = {
  exp: 0,
  expires_at: '',
  iat: 0,
  issued_at: '',
  jti: '',
  quote_id: '',
  request: null,
  request_digest: '',
} as const

/** Canonical order, here and inside: what stands in it is signed as it stands. */
const inOrder = <T extends object>(document: T) => JSON.parse(toCanonicalJson(document)) as T

const refused = (why: string, reason: string) =>
  new GatewayError(
    'quote_invalid',
    `${why} Leave the header out, or send the quote that came with the 402 of this very request.`,
    { reason },
  )
