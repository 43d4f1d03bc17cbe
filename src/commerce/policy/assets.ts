// Stablecoins that the default policy takes for what they say they are, pinned: issues of Circle, Tether, PayPal and Tempo, and the
// networks they are on.
import { createNetworks, findV1Network, KNOWN_CHAIN_IDS } from '../../core/networks.ts'

export interface AssetOnNetwork {
  readonly asset: string
  /** CAIP-2. */
  readonly network: string
}

const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const SOLANA_DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'

const MORE: readonly (readonly [network: string, asset: string])[] = [
  // USDC
  ['eip155:43113', '0x5425890298aed601595a70AB815c96711a31Bc65'],
  ['eip155:80002', '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582'],
  ['eip155:421614', '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d'],
  ['eip155:11155111', '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238'],
  ['eip155:11155420', '0x5fd84259d66Cd46123540766Be93DFE6D43130D7'],
  ['eip155:42220', '0xcebA9300f2b948710d2653dD7B07f33A8B32118C'],
  ['eip155:1329', '0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392'],
  [SOLANA, 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
  [SOLANA_DEVNET, '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'],
  // EURC
  ['eip155:1', '0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c'],
  ['eip155:8453', '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42'],
  // USDT, PYUSD
  ['eip155:1', '0xdAC17F958D2ee523a2206206994597C13D831ec7'],
  ['eip155:1', '0x6c3ea9036406852006290770BEdFcAbA0e23A0e8'],
  // The dollars of Tempo, where MPP is at home, and of its test network.
  ['eip155:4217', '0x20C0000000000000000000000000000000000000'],
  ['eip155:42431', '0x20C0000000000000000000000000000000000000'],
  ['eip155:42431', '0x20C0000000000000000000000000000000000001'],
]

export const KNOWN_STABLECOINS: readonly AssetOnNetwork[] = [
  ...createNetworks(KNOWN_CHAIN_IDS).all.map(({ network, asset }) => ({ network, asset: asset.address })),
  ...MORE.map(([network, asset]) => ({ network, asset })),
]

export const KNOWN_NETWORKS: readonly string[] = [...new Set(KNOWN_STABLECOINS.map(({ network }) => network))]

/** CAIP-2, whichever of its names a network has. */
export const toNetwork = (name: string): string => findV1Network(name) ?? name

/** Addresses of EVM chains have no case; others do, and lose nothing by being compared as they are. */
export const toAddress = (address: string): string =>
  /^0x[\da-f]+$/i.test(address) ? address.toLowerCase() : address
