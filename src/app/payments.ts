// Composition of the payment parts: networks, chains, upstreams, router, verifier, settlements, gate, facilitator.
import type { PaymentGate } from '../core/charging.ts'
import { findV1Network, type Networks, type PaymentNetwork } from '../core/networks.ts'
import { createSettledListings, type SettledListings } from '../discovery/settled-listings.ts'
import type { Facilitator } from '../payments/ports.ts'
import type { Purchases } from '../payments/purchases.ts'
import { createChain } from '../payments/adapters/chain.ts'
import { createHttpUpstream, nameFacilitators } from '../payments/adapters/http-upstream.ts'
import { createLocalUpstream } from '../payments/adapters/local-upstream.ts'
import { GENEROUS_GAS } from '../payments/adapters/transfer-simulation.ts'
import { createEvidenceReader, type EvidenceReader } from '../payments/chain-evidence.ts'
import { createFacilitator } from '../payments/facilitator.ts'
import { createPaymentGate } from '../payments/gate.ts'
import type { Chain } from '../payments/chain-ports.ts'
import type { Router, Settlements, Upstream } from '../payments/ports.ts'
import { createMarketSettingsReader, type MarketSettings } from '../market/settings.ts'
import { createPayerLosses } from '../payments/payer-losses.ts'
import { createPresentations } from '../payments/presentation.ts'
import { createPaymentPolicyReader } from '../payments/policy.ts'
import { createPurchases } from '../payments/purchases.ts'
import { createRouter } from '../payments/router.ts'
import { createPaymentRecords, type PaymentRecords } from '../payments/records.ts'
import { createRefunds, type Refunds } from '../payments/refunds.ts'
import { createTransferSigner, type TransferSigner } from '../payments/transfer-signer.ts'
import { createSecrets } from '../payments/secrets.ts'
import { createSettlements } from '../payments/settlements.ts'
import { createSignIns } from '../payments/sign-in.ts'
import { createVerifier } from '../payments/verify.ts'
import { createRenewReceipt } from '../receipts/renewal.ts'
import { openSandboxChains, type SandboxChains } from '../sandbox/chains.ts'
import { createTestWallet, type TestWallet } from '../sandbox/wallet.ts'
import { beginSettlements, observeUpstream } from '../telemetry/observe-upstream.ts'
import type { Platform } from './platform.ts'
import type { Lifetime } from './lifetime.ts'
import type { OpenNetworks } from './networks.ts'
import type { PaymentSetup } from './payment-settings.ts'

export interface Payments {
  readonly networks: Networks
  readonly payTo: string | undefined
  readonly router: Router
  readonly chains: ReadonlyMap<string, Chain>
  readonly settlements: Settlements
  readonly gate: PaymentGate
  readonly facilitator: Facilitator
  readonly purchases: Purchases
  /** What sellers whose payments were settled here say of their resources. */
  readonly settledListings: SettledListings
  readonly refunds: Refunds
  readonly paymentRecords: PaymentRecords
  /** What became of a transfer, by its chain. */
  readonly evidence: EvidenceReader
  /** Sellers of the market are paid from it; undefined: nobody is. */
  readonly payoutAccount: TransferSigner | undefined
  readonly refundAccount: TransferSigner | undefined
  /** The operator's rules of the market. */
  readonly readMarket: () => Promise<MarketSettings>
  /** Pays with the test money of a sandbox. */
  readonly testWallet: TestWallet | undefined
  /** Lower-case addresses of this gateway that money comes to, leaves from, or is settled by. */
  readonly ownAccounts: readonly string[]
}

/** @param configured the operator's keys; a sandbox has keys of its own where there are none */
export async function openPayments(
  platform: Platform,
  { networks, recheck }: OpenNetworks,
  configured: Pick<PaymentSetup, 'settlerKeys' | 'refundKey' | 'payoutKey'>,
  lifetime: Lifetime,
): Promise<Payments> {
  const { config, isSandbox, signer, deriveKey } = platform
  const { baseUrl } = platform.addresses
  const { verifyOwn } = signer
  const embedded = isSandbox ? await openSandboxChains({ ...platform, dataDir: config.dataDir }) : undefined
  if (embedded) lifetime.onClose(() => embedded.close())

  const rpcUrlOf = async (chainId: number): Promise<string> => {
    const url = config.rpcUrls[chainId] ?? (await embedded?.rpcUrl(chainId))
    if (url === undefined) throw new Error(`no chain ${chainId}`)
    return url
  }
  const rpcOf = ({ chainId }: PaymentNetwork) => ({ rpcUrl: () => rpcUrlOf(chainId) })
  // A facilitator elsewhere pays for as much gas as it likes.
  const settlementGas = config.facilitators.length > 0 ? GENEROUS_GAS : config.settlementGas
  const chains = new Map(
    networks.all.map((network) => {
      const onReturn = () => recheck(network.network)
      const chain = createChain({
        ...platform,
        network,
        ...rpcOf(network),
        settlementGas,
        // The chains of the sandbox are those that no node is named for; a node that is named in one is somebody's for development.
        minesOnDemand: platform.isSandbox || config.rpcUrls[network.chainId] === undefined,
        onReturn,
      })
      return [network.network, withHindrance(chain, networks)]
    }),
  )
  lifetime.onClose(async () => {
    await Promise.all([...chains.values()].map((chain) => chain.close()))
  })

  const settlerKeys =
    configured.settlerKeys.length > 0
      ? configured.settlerKeys
      : embedded?.settlers.map(({ privateKey }) => privateKey)
  const { telemetry } = platform
  const toNetwork = (name: string) => networks.find(findV1Network(name) ?? name)?.network
  const upstreams = openUpstreams()
  if (telemetry)
    beginSettlements(
      telemetry,
      networks.all.map(({ network }) => network),
    )
  const router = createRouter({
    ...platform,
    networks,
    upstreams: telemetry
      ? upstreams.map((upstream) => observeUpstream(telemetry, upstream, toNetwork))
      : upstreams,
  })
  lifetime.onClose(() => router.close())

  /** Facilitators elsewhere where the operator names some, else the one in this process where it has a key to settle with. */
  function openUpstreams(): Upstream[] {
    const ids = nameFacilitators(config.facilitators)
    const remote = config.facilitators.map((url, i) =>
      createHttpUpstream({ ...platform, url, id: ids[i], networks, ca: platform.extraCa }),
    )
    if (remote.length > 0 || !settlerKeys) return remote
    const settling = networks.all.map((network) => ({ network, ...rpcOf(network) }))
    const { settlerMaxFees: maxFees } = config
    return [
      createLocalUpstream({
        ...platform,
        chains: settling,
        settlerKeys: async () => settlerKeys,
        maxFees,
        settlementGas,
      }),
    ]
  }

  const payTo = config.payTo ?? embedded?.payTo

  async function listOwnAccounts(): Promise<readonly string[]> {
    const keys = [...(settlerKeys ?? []), ...(refundKey === undefined ? [] : [refundKey])]
    const signers = await Promise.all(keys.map((key) => createTransferSigner(key)))
    return [
      ...new Set([
        ...(payTo === undefined ? [] : [payTo.toLowerCase()]),
        ...signers.map(({ address }) => address),
      ]),
    ]
  }
  function openTestWallet({ payer, chainIds }: SandboxChains, payTo: string): TestWallet {
    return createTestWallet({
      ...platform,
      baseUrl,
      privateKey: payer.privateKey,
      payTo,
      networks,
      // A chain that the operator names holds no test money of ours.
      chainIds: chainIds.filter((chainId) => config.rpcUrls[chainId] === undefined),
    })
  }

  const maxOpen = config.payerMaxOpen
  const readPolicy = createPaymentPolicyReader(
    platform.documents,
    (problem) => platform.log.warn({ reason: problem }, 'payment-policy'),
    platform.now,
  )
  const { confirmations } = config
  const losses = createPayerLosses(platform.now, maxOpen)
  const shared = {
    ...platform,
    networks,
    chains,
    confirmations,
    router,
    payTo,
    baseUrl,
    verifyOwn,
    maxOpen,
    losses,
  }
  const verifier = createVerifier({
    ...shared,
    rateLimit: config.rateLimit === 0 ? { perPayer: 0, perPayee: 0 } : undefined,
  })
  const settlements = createSettlements(shared)
  lifetime.onClose(() => settlements.close())
  const purchases = createPurchases(shared)
  const { creditsRequired } = purchases
  const settledListings = createSettledListings({ ...platform, baseUrl })
  const refundKey = configured.refundKey ?? embedded?.payToKey
  const refundAccount = refundKey && (await createTransferSigner(refundKey))
  const { payoutKey } = configured
  const payoutAccount = payoutKey ? await createTransferSigner(payoutKey) : refundAccount
  const evidence = createEvidenceReader(shared)
  const readMarket = createMarketSettingsReader(
    platform.documents,
    (problem) => platform.log.warn({ reason: problem }, 'market'),
    platform.now,
  )
  const refunds = createRefunds({
    ...shared,
    evidence,
    renewReceipt: createRenewReceipt(signer),
    account: refundAccount,
    returnsFee: async () => (await readMarket()).fee_returned_on_refund,
  })
  const presentations = createPresentations(deriveKey('payment-presentation'))
  const secrets = createSecrets(deriveKey('payment-challenge'))
  const signIns = createSignIns({ ...shared, key: deriveKey('payment-sign-in') })
  const taking = {
    ...shared,
    verifier,
    settlements,
    presentations,
    secrets,
    signIns,
    renewReceipt: createRenewReceipt(signer),
  }
  return {
    networks,
    payTo,
    router,
    chains,
    settlements,
    gate: createPaymentGate(taking),
    facilitator: createFacilitator({
      ...taking,
      readPolicy,
      creditsRequired,
      onSettled: settledListings.onSettled,
    }),
    purchases,
    settledListings,
    refunds,
    paymentRecords: createPaymentRecords({ ...shared, evidence, settlements, refunds }),
    evidence,
    refundAccount,
    payoutAccount,
    testWallet: embedded && payTo !== undefined ? openTestWallet(embedded, payTo) : undefined,
    readMarket,
    ownAccounts: await listOwnAccounts(),
  }
}

/** What the health report says of a chain: nothing is taken on one whose token is not proven, however well it answers. */
const withHindrance = (chain: Chain, networks: Networks): Chain => ({
  ...chain,
  state() {
    const why = networks.hindrance(chain.network.network)
    const state = chain.state()
    return why === undefined
      ? { ...state, takes_payments: true }
      : { ...state, state: 'failing', detail: `no payment is taken: ${why}`, takes_payments: false }
  },
})
