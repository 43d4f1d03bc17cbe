// Composition of the payment parts: networks, chains, upstreams, router, verifier, settlements, gate, facilitator.
import type { KeyObject } from 'node:crypto'
import type { Config } from '../core/config.ts'
import type { Fault } from '../lib/fault-points.ts'
import type { Logger } from '../lib/log.ts'
import type { Secret } from '../lib/secret.ts'
import type { Facilitator, Purchases, Signer } from '../core/services.ts'
import type { DocumentStore, Store } from '../store/ports.ts'
import { createChain } from '../payments/adapters/chain.ts'
import { createHttpUpstream } from '../payments/adapters/http-upstream.ts'
import { createLocalUpstream } from '../payments/adapters/local-upstream.ts'
import { createFacilitator } from '../payments/facilitator.ts'
import { createPaymentGate } from '../payments/gate.ts'
import { createNetworks } from '../core/networks.ts'
import type { Chain, Router, Settlements, Upstream } from '../payments/ports.ts'
import type { Networks } from '../core/networks.ts'
import type { PaymentGate } from '../core/charging.ts'
import { createPresentations } from '../payments/presentation.ts'
import { createPurchases } from '../payments/purchases.ts'
import { createRouter } from '../payments/router.ts'
import { createSettlements } from '../payments/settlements.ts'
import { createVerifier } from '../payments/verify.ts'

/** The embedded chains, where there are any (sandbox/chains.ts). */
export interface EmbeddedChains {
  readonly chainIds: readonly number[]
  rpcUrl(chainId: number): Promise<string>
  readonly settlers: readonly { readonly privateKey: Secret<string> }[]
  readonly payTo: string
}

export interface PaymentParts {
  readonly config: Config
  readonly store: Store
  readonly documents: DocumentStore
  readonly signer: Signer
  /** Reads back what this installation signed. */
  readonly verifyOwn: (jws: string, typ: string) => Readonly<Record<string, unknown>> | undefined
  readonly presentationKey: KeyObject
  readonly embedded: EmbeddedChains | undefined
  /** Of GATEWAY_SETTLER_KEY_FILE. */
  readonly settlerKey: Secret<string> | undefined
  readonly extraCa: readonly string[] | undefined
  readonly baseUrl: string
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
  readonly fault: Fault
}

export interface Payments {
  readonly networks: Networks
  readonly payTo: string | undefined
  readonly router: Router
  readonly chains: ReadonlyMap<string, Chain>
  readonly settlements: Settlements
  readonly gate: PaymentGate
  readonly facilitator: Facilitator
  readonly purchases: Purchases
  close(): Promise<void>
}

export function createPayments(parts: PaymentParts): Payments {
  const { config, store, documents, signer, embedded, settlerKey, baseUrl, bootId, now, log, fault } = parts
  const rpcUrlOf = (chainId: number) => {
    const url = config.rpcUrls[chainId]
    if (url !== undefined) return Promise.resolve(url)
    if (embedded) return embedded.rpcUrl(chainId)
    return Promise.reject(new Error(`no chain ${chainId}`))
  }
  const chainIds = [...new Set([...Object.keys(config.rpcUrls).map(Number), ...(embedded?.chainIds ?? [])])]
  const networks = createNetworks(chainIds)
  const chains = new Map(
    networks.all.map((network) => [
      network.network,
      createChain({ network, rpcUrl: () => rpcUrlOf(network.chainId), now }),
    ]),
  )
  const payTo = config.payTo ?? embedded?.payTo
  const upstreams: Upstream[] = config.facilitators.map((url) =>
    createHttpUpstream({ url, networks, ca: parts.extraCa, now }),
  )
  if (upstreams.length === 0 && (settlerKey || embedded))
    upstreams.push(
      createLocalUpstream({
        chains: networks.all.map((network) => ({ network, rpcUrl: () => rpcUrlOf(network.chainId) })),
        settlerKeys: async () =>
          settlerKey ? [settlerKey] : embedded!.settlers.map(({ privateKey }) => privateKey),
        fault,
        now,
      }),
    )
  const router = createRouter({ upstreams, networks, now, log })
  const verifier = createVerifier({
    networks,
    chains,
    store,
    router,
    documents,
    rateLimit: config.rateLimit === 0 ? { perPayer: 0, perPayee: 0 } : undefined,
    now,
    log,
  })
  const settlements = createSettlements({
    store,
    router,
    networks,
    chains,
    signer,
    baseUrl,
    bootId,
    now,
    log,
    fault,
  })
  const purchases = createPurchases({
    config,
    store,
    networks,
    signer,
    verifyOwn: parts.verifyOwn,
    payTo,
    baseUrl,
    now,
  })
  const presentations = createPresentations(parts.presentationKey)
  const common = {
    store,
    networks,
    verifier,
    settlements,
    presentations,
    signer,
    payTo,
    baseUrl,
    bootId,
    now,
    log,
    fault,
  }
  return {
    networks,
    payTo,
    router,
    chains,
    settlements,
    gate: createPaymentGate({ router, ...common }),
    facilitator: createFacilitator({
      config,
      router,
      creditsRequired: purchases.creditsRequired,
      ...common,
    }),
    purchases,
    async close() {
      await settlements.close()
      await router.close()
      await Promise.all([...chains.values()].map((chain) => chain.close()))
    },
  }
}
