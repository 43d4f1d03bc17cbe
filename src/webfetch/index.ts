// Paid fetch of one public HTTPS URL: shapes, quote, preflight, the fetch.
import { QUOTE_SECONDS } from '../../schemas/money.ts'
import { WEB_FETCH } from '../../schemas/web-fetch.ts'
import type { Config } from '../core/config.ts'
import type { AddressPolicy } from '../egress/address.ts'
import type { Resolver, Sender } from '../egress/ports.ts'
import type { Terms } from '../core/charging.ts'
import { GatewayError } from '../core/errors.ts'
import { createTargets, type TargetParts } from '../outbound/targets.ts'
import type { Router } from '../payments/ports.ts'
import type { Networks } from '../core/networks.ts'
import { createQuotes, type Quotable, SANDBOX_NOTICE, termsOf } from '../payments/quotes.ts'
import type { Signer } from '../receipts/ports.ts'
import type { WebFetch } from './ports.ts'
import type { Store } from '../store/ports.ts'
import { computeEconomics, DEFAULT_ECONOMICS, type EconomicsConfig, figuresOf } from './economics.ts'
import { createFetch } from './fetch.ts'
import { bodyOf, preflight } from './preflight.ts'
import { pathOf, pricingDocument } from './pricing.ts'
import { inspectConfiguration } from './rails.ts'
import { type PreparedFetch, prepareFetch } from './request.ts'
import { must } from '../lib/must.ts'

export interface WebFetchParts {
  readonly config: Pick<Config, 'mode' | 'egressPorts'>
  readonly networks: Networks
  readonly router: Pick<Router, 'routes'>
  readonly payTo: string | undefined
  readonly resolver: Resolver
  readonly sender: Sender
  readonly policy: AddressPolicy
  readonly checkHost: TargetParts['checkHost']
  readonly signer: Signer
  /** Reads our own quotes back. */
  readonly verifyOwn: (jws: string, typ: string) => Readonly<Record<string, unknown>> | undefined
  readonly store: Pick<Store, 'saveQuote'>
  readonly baseUrl: string
  readonly siteUrl: string
  readonly now: () => number
  readonly economics?: EconomicsConfig
}

/** Paid web fetch: plan and price of a request, preflight, quote, and the pricing document. */
export function createWebFetch(given: WebFetchParts): WebFetch {
  const config = given.economics ?? DEFAULT_ECONOMICS
  const isSandbox = given.config.mode === 'sandbox'
  const parts = {
    ...given,
    economics: computeEconomics(config),
    amountAtomic: config.customerPriceUsdMicros,
    targets: createTargets({ ...given, allowSandboxName: isSandbox }),
    isSandbox,
  }
  const quotes = createQuotes(parts)
  const fetch = createFetch(parts)
  const rules = { ports: given.config.egressPorts, allowSandboxName: isSandbox }
  const prepare = (input: unknown) => prepareFetch(input, rules)
  const facts = { economics: figuresOf(parts.economics) }

  const quotableOf = ({ request, digest }: PreparedFetch): Quotable => ({
    tool: WEB_FETCH,
    request,
    shorter: { ...request, url: null },
    digest,
    network: request.network,
    amountAtomic: parts.amountAtomic,
    facts,
  })

  function requireOffer(): void {
    if (parts.economics.available) return
    throw new GatewayError(
      'tool_unavailable',
      `${WEB_FETCH} is not offered: its price does not cover its costs. Ask the operator to correct the configuration.`,
      { reason: must(parts.economics.rejection_reason, 'why a price does not cover its costs') },
    )
  }

  return {
    pricing: () => pricingDocument(parts),

    async preflight(input) {
      return preflight(parts, prepare(input))
    },

    async plan(input) {
      const prepared = prepare(input)
      await parts.targets.check(prepared)
      requireOffer()
      const quotable = quotableOf(prepared)
      const charge: Terms = {
        amountAtomic: parts.amountAtomic,
        networks: [prepared.request.network],
        requestDigest: prepared.digest,
        quote: (presented, room) => quotes.accept(quotable, presented, room),
      }
      return { charge, run: (context) => fetch(prepared, context) }
    },

    async quote(input) {
      const prepared = prepare(input)
      await parts.targets.check(prepared)
      requireOffer()
      const rail = inspectConfiguration(parts, prepared.request.network)
      if (!rail.ready) throw new GatewayError('payments_unavailable', rail.detail, { reason: rail.reason })
      const quotable = quotableOf(prepared)
      const { id, jws, issuedAt, expiresAt } = quotes.issue(quotable)
      await parts.store.saveQuote({ id, jws, createdAt: issuedAt, expiresAt })
      return {
        quote_id: id,
        quote: jws,
        issued_at: new Date(issuedAt).toISOString(),
        expires_at: new Date(expiresAt).toISOString(),
        valid_for_seconds: QUOTE_SECONDS,
        ...(isSandbox && { notice: SANDBOX_NOTICE }),
        tool: WEB_FETCH,
        request: prepared.request,
        request_digest: prepared.digest,
        terms: termsOf(parts, quotable),
        economics: parts.economics,
        how_to_pay: {
          method: 'POST',
          url: parts.baseUrl + pathOf(prepared.request.network),
          headers: { 'Content-Type': 'application/json', 'X-Gateway-Quote': jws },
          body: bodyOf(prepared),
          next:
            'The answer is 402 with Payment-Required. Sign one of its `accepts` and send the identical request again ' +
            'with Payment-Signature.',
        },
      }
    },
  }
}
