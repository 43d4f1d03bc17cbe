// The networks and assets that we take: pinned here, or named by the operator and read from their chain. What a buyer says
// about a token is never believed.

/** A network with the one asset that is taken on it. */
export interface PaymentNetwork {
  /** CAIP-2, e.g. `eip155:8453`. */
  readonly network: string
  readonly chainId: number
  /** Name of v1, e.g. `base`; undefined where v1 has none. */
  readonly v1Name: string | undefined
  readonly name: string
  /** False on test networks: marked `revenue: false` in cost and receipt. */
  readonly revenue: boolean
  /** Whether the asset is USDC by our own pin: prices in USDC are paid with nothing else. */
  readonly isPinned: boolean
  readonly asset: {
    /** Checksummed address. */
    readonly address: string
    /** EIP-712 domain of the token. Empty where an asset was named by the operator and its chain has not told it yet. */
    readonly name: string
    readonly version: string
    readonly decimals: number
  }
}

/** An asset that the operator takes on a chain that nothing is pinned for; the rest is read from the chain. */
export interface NamedAsset {
  readonly chainId: number
  /** Checksummed address. */
  readonly address: string
  /** False for test money. */
  readonly revenue: boolean
}

export interface Networks {
  /** Those with a chain behind them (GATEWAY_RPC_<chain id>, or the sandbox). */
  readonly all: readonly PaymentNetwork[]
  /** The network with this CAIP-2 id or v1 name. */
  find(network: string): PaymentNetwork | undefined
  /**
   * Why no payment is taken on a network at this moment, in words: its token is not proven on chain. Undefined where it is, and
   * where nobody has to prove it (the chains of the sandbox).
   * @param network CAIP-2
   */
  hindrance(network: string): string | undefined
}

/** What a chain proved about its token, or why it proved nothing. */
export type TokenProof =
  | { readonly ok: true; readonly name: string; readonly version: string }
  | { readonly ok: false; readonly why: string }

/** The networks, for who asks the chains. */
export interface NetworkRegistry extends Networks {
  /** @param network CAIP-2 */
  report(network: string, proof: TokenProof): void
}

/** Prices and amounts are atomic USDC, so an asset with other decimals would be paid by a wrong amount. */
export const ASSET_DECIMALS = 6

const usdc = (
  chainId: number,
  v1Name: string | undefined,
  name: string,
  revenue: boolean,
  address: string,
  tokenName = 'USD Coin',
): PaymentNetwork => ({
  network: `eip155:${chainId}`,
  chainId,
  v1Name,
  name,
  revenue,
  isPinned: true,
  asset: { address, name: tokenName, version: '2', decimals: ASSET_DECIMALS },
})

// Addresses: Circle's list of native USDC deployments; domains as the tokens themselves answer `name` and `version`.
export const KNOWN_NETWORKS: readonly PaymentNetwork[] = [
  usdc(8453, 'base', 'Base', true, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'),
  usdc(84532, 'base-sepolia', 'Base Sepolia', false, '0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'USDC'),
  usdc(1, undefined, 'Ethereum', true, '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'),
  usdc(10, undefined, 'OP Mainnet', true, '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'),
  usdc(137, 'polygon', 'Polygon', true, '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'),
  usdc(42161, undefined, 'Arbitrum One', true, '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'),
  usdc(43114, 'avalanche', 'Avalanche', true, '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E'),
]

/** The network of a token that we know to be USDC; amounts of others do not compare. @param network CAIP-2 or v1 name */
export const networkOfUsdc = (network: string, asset: string): PaymentNetwork | undefined =>
  KNOWN_NETWORKS.find(
    (known) =>
      (known.network === network || known.v1Name === network) &&
      known.asset.address.toLowerCase() === asset.toLowerCase(),
  )

/** `10500` -> `0.0105`. @returns undefined for what is no amount in smallest units */
export function toDecimalUsdc(atomic: string): string | undefined {
  if (!/^\d{1,78}$/.test(atomic)) return undefined
  const digits = atomic.padStart(ASSET_DECIMALS + 1, '0')
  const part = digits.slice(-ASSET_DECIMALS).replace(/0+$/, '')
  const whole = digits.slice(0, -ASSET_DECIMALS).replace(/^0+(?=\d)/, '')
  return part === '' ? whole : `${whole}.${part}`
}

/** Chains that USDC is pinned on. */
export const KNOWN_CHAIN_IDS: readonly number[] = KNOWN_NETWORKS.map(({ chainId }) => chainId)

/**
 * @param chainIds those with a chain behind them; ids that no asset is known for are left out
 * @param named assets of chains that nothing is pinned for
 */
export function createNetworks(
  chainIds: readonly number[],
  named: readonly NamedAsset[] = [],
): NetworkRegistry {
  const served = [...KNOWN_NETWORKS, ...named.map(toNetwork)].filter(({ chainId }) =>
    chainIds.includes(chainId),
  )
  const networks = new Map(served.map((network) => [network.network, network]))
  const byV1Name = new Map(served.map(({ network, v1Name }) => [v1Name, network]))
  const hindrances = new Map<string, string>()
  let all = served
  return {
    get all() {
      return all
    },
    find: (name) => networks.get(name) ?? networks.get(byV1Name.get(name) ?? ''),
    hindrance: (network) => hindrances.get(network),
    report(id, proof) {
      if (!proof.ok) {
        hindrances.set(id, proof.why)
        return
      }
      hindrances.delete(id)
      const network = networks.get(id)
      if (!network || (network.asset.name === proof.name && network.asset.version === proof.version)) return
      // The record is replaced and never changed: a domain that was computed from the old one must not outlive it.
      const { name, version } = proof
      networks.set(id, { ...network, asset: { ...network.asset, name, version } })
      all = [...networks.values()]
    },
  }
}

const toNetwork = ({ chainId, address, revenue }: NamedAsset): PaymentNetwork => ({
  network: `eip155:${chainId}`,
  chainId,
  v1Name: Object.keys(V1_NETWORKS).find((name) => V1_NETWORKS[name] === `eip155:${chainId}`),
  name: `chain ${chainId}`,
  revenue,
  isPinned: false,
  asset: { address, name: '', version: '', decimals: ASSET_DECIMALS },
})

/** The names that v1 gave to networks; whether we serve them is another question. */
const V1_NETWORKS: Readonly<Record<string, string>> = {
  abstract: 'eip155:2741',
  'abstract-testnet': 'eip155:11124',
  avalanche: 'eip155:43114',
  'avalanche-fuji': 'eip155:43113',
  base: 'eip155:8453',
  'base-sepolia': 'eip155:84532',
  iotex: 'eip155:4689',
  peaq: 'eip155:3338',
  polygon: 'eip155:137',
  'polygon-amoy': 'eip155:80002',
  sei: 'eip155:1329',
  'sei-testnet': 'eip155:1328',
  solana: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  'solana-devnet': 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
}

/** CAIP-2 id of a v1 name; undefined when v1 had no such network. */
export const findV1Network = (name: string): string | undefined =>
  Object.hasOwn(V1_NETWORKS, name) ? V1_NETWORKS[name] : undefined
