// Signed quotes: what one exact request costs, for 300 seconds. They verify without a row and are stored only when
// somebody asks for one.
import { formatAtomic, QUOTE_SECONDS } from '../../schemas/money.ts'
import { WEB_FETCH } from '../../schemas/web-fetch.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { JWS_TYPES } from '../receipts/types.ts'
import type { Signer } from '../services.ts'
import type { Economics } from './economics.ts'
import { pinnedNetwork } from './rails.ts'
import type { PreparedFetch } from './request.ts'

/** A quote travels in a header; what covers a longer URL is the digest. */
const MAX_QUOTED_URL_CHARS = 2048
const MAX_PRESENTED_CHARS = 8192

export interface QuoteParts {
  readonly signer: Signer
  readonly verifyOwn: (jws: string, typ: string) => Readonly<Record<string, unknown>> | undefined
  readonly payTo: string | undefined
  readonly baseUrl: string
  readonly economics: Economics
  readonly amountAtomic: bigint
  readonly isSandbox: boolean
  readonly now: () => number
}

export interface Quote {
  readonly id: string
  readonly jws: string
  readonly issuedAt: number
  readonly expiresAt: number
}

export const SANDBOX_NOTICE = 'SANDBOX: test money and test keys only'

/** What is paid where: the same members in quotes, quote answers and preflights. */
export function termsOf(
  { payTo, amountAtomic }: Pick<QuoteParts, 'payTo' | 'amountAtomic'>,
  { request }: PreparedFetch,
) {
  const { asset, revenue } = pinnedNetwork(request.network)
  return {
    scheme: 'exact',
    network: request.network,
    asset: asset.address,
    amount_atomic: amountAtomic.toString(),
    amount: formatAtomic(amountAtomic),
    currency: 'USDC',
    decimals: asset.decimals,
    pay_to: payTo ?? null,
    environment: revenue ? 'production' : 'test',
    testnet: !revenue,
    revenue,
  } as const
}

export function createQuotes(parts: QuoteParts) {
  const { signer, baseUrl, now } = parts
  const economics = figuresOf(parts.economics)
  const fixed = new Map<string, ReturnType<typeof termsOf>>()

  /** Of a network they never change, and a quote is made for every unpaid call. */
  function fixedTerms(prepared: PreparedFetch) {
    const { network } = prepared.request
    const known = fixed.get(network) ?? termsOf(parts, prepared)
    fixed.set(network, known)
    return known
  }

  function issue(prepared: PreparedFetch): Quote {
    const issuedAt = now()
    const expiresAt = issuedAt + QUOTE_SECONDS * 1000
    const id = newId('qte', issuedAt)
    const { request } = prepared
    const jws = signer.sign(JWS_TYPES.quote, {
      iss: baseUrl,
      jti: id,
      iat: Math.floor(issuedAt / 1000),
      exp: Math.floor(expiresAt / 1000),
      quote_id: id,
      tool: WEB_FETCH,
      request: request.url.length <= MAX_QUOTED_URL_CHARS ? request : { ...request, url: null },
      request_digest: prepared.digest,
      ...fixedTerms(prepared),
      economics,
      issued_at: new Date(issuedAt).toISOString(),
      expires_at: new Date(expiresAt).toISOString(),
      ...(parts.isSandbox && { notice: SANDBOX_NOTICE }),
    })
    return { id, jws, issuedAt, expiresAt }
  }

  return {
    issue,
    /**
     * The quote that applies to a request: the one that was presented while it holds, else a new one.
     * @throws {GatewayError} quote_invalid when what was presented is no quote of ours, or of another request
     */
    accept(prepared: PreparedFetch, presented: string | undefined): Pick<Quote, 'jws' | 'expiresAt'> {
      if (presented === undefined) return issue(prepared)
      const payload =
        presented.length <= MAX_PRESENTED_CHARS ? parts.verifyOwn(presented, JWS_TYPES.quote) : undefined
      if (!payload) throw refused('X-Gateway-Quote is not a quote that this gateway signed.', 'not_a_quote')
      if (payload['request_digest'] !== prepared.digest)
        throw refused('X-Gateway-Quote is for another request: this one differs from it.', 'other_request')
      const expiresAt = Date.parse(String(payload['expires_at']))
      const { amount_atomic, network, asset, pay_to } = fixedTerms(prepared)
      const stands =
        payload['amount_atomic'] === amount_atomic &&
        payload['network'] === network &&
        payload['asset'] === asset &&
        payload['pay_to'] === pay_to
      return stands && now() < expiresAt ? { jws: presented, expiresAt } : issue(prepared)
    },
  }
}
export type Quotes = ReturnType<typeof createQuotes>

const refused = (why: string, reason: string) =>
  new GatewayError(
    'quote_invalid',
    `${why} Leave the header out, or send the quote that came with the 402 of this very request.`,
    { reason },
  )

/** The numbers, without the sentences around them: a header is short. */
const figuresOf = (economics: Economics) =>
  Object.fromEntries(
    Object.entries(economics).filter(
      ([name, value]) => value !== null && name !== 'basis' && !name.endsWith('_basis'),
    ),
  )
