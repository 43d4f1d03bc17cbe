// The networks and assets that we take, pinned: what a buyer says about a token is never believed.

/** A pinned asset: what a buyer claims about it is never believed. */
export interface PaymentNetwork {
  /** CAIP-2, e.g. `eip155:8453`. */
  readonly network: string
  readonly chainId: number
  /** Name of v1, e.g. `base`; undefined where v1 has none. */
  readonly v1Name: string | undefined
  readonly name: string
  /** False on test networks: marked `revenue: false` in cost and receipt. */
  readonly revenue: boolean
  readonly asset: {
    /** Checksummed address. */
    readonly address: string
    /** EIP-712 domain of the token. */
    readonly name: string
    readonly version: string
    readonly decimals: number
  }
}

export interface Networks {
  /** Those with a chain behind them (GATEWAY_RPC_<chain id>, or the sandbox). */
  readonly all: readonly PaymentNetwork[]
  /** The network with this CAIP-2 id or v1 name. */
  find(network: string): PaymentNetwork | undefined
}

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
  asset: { address, name: tokenName, version: '2', decimals: 6 },
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

/** Chains that USDC is pinned on. */
export const KNOWN_CHAIN_IDS: readonly number[] = KNOWN_NETWORKS.map(({ chainId }) => chainId)

/** @param chainIds those with a chain behind them; ids that no asset is pinned for are left out */
export function createNetworks(chainIds: readonly number[]): Networks {
  const all = KNOWN_NETWORKS.filter(({ chainId }) => chainIds.includes(chainId))
  const byName = new Map<string, PaymentNetwork>()
  for (const network of all) {
    byName.set(network.network, network)
    if (network.v1Name !== undefined) byName.set(network.v1Name, network)
  }
  return { all, find: (name) => byName.get(name) }
}

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
