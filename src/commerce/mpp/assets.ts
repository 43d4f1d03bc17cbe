// MPP: the asset and the network that a request names. Every payment method writes its network in a place of its own, and some have
// one that holds where nothing is said.
import { pick, pickNumeral, pickText } from '../decode/value.ts'
import type { Found, JsonObject } from '../ports.ts'

/** Asset and network of a request, in the words of every protocol. */
export interface MppAsset {
  /** ISO 4217 or another code of letters, in upper case; null where `asset` says. */
  readonly currency: Found<string> | null
  /** Token address, mint or id, as written. */
  readonly asset: Found<string> | null
  /** CAIP-2. */
  readonly network: Found<string> | null
  /** The network is the one of the method, because the request names none. */
  readonly isNetworkAssumed: boolean
}

const SOLANA_CLUSTERS: Readonly<Record<string, string>> = {
  mainnet: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  devnet: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
}

/** Networks that hold where a request names none, by method and intent (drafts of the methods, "Method Details"). */
const ASSUMED: Readonly<Record<string, string>> = {
  'tempo charge': 'eip155:42431',
  'tempo subscription': 'eip155:42431',
  'tempo session': 'eip155:4217',
  'hedera session': 'eip155:295',
  'solana charge': SOLANA_CLUSTERS['mainnet'] ?? '',
}

/** @param request decoded; null where it does not decode */
export function readAsset(
  request: Found<JsonObject> | null,
  method: string | undefined,
  intent: string | undefined,
): MppAsset {
  const currency = pickText(request, 'currency')
  const stated = currency === null ? null : readCaip19(currency)
  if (stated !== null) return { ...stated, currency: null, isNetworkAssumed: false }
  const isCode = currency !== null && /^[A-Za-z]{3,5}$/.test(currency.value)
  const network = readNetwork(request, method)
  const assumed = isCode ? undefined : ASSUMED[`${method} ${intent}`]
  return {
    currency: isCode ? { value: currency.value.toUpperCase(), at: currency.at } : null,
    asset: isCode ? null : currency,
    network:
      network ?? (assumed === undefined || currency === null ? null : { value: assumed, at: currency.at }),
    isNetworkAssumed: network === null,
  }
}

/** `eip155:42161/erc20:0x…`: chain and asset in one text. */
function readCaip19({ value, at }: Found<string>): Pick<MppAsset, 'asset' | 'network'> | null {
  const [, network, asset] = /^([a-z\d-]{3,8}:[\w-]{1,64})\/[a-z\d-]{3,8}:([\w.%-]{1,128})$/.exec(value) ?? []
  return network === undefined || asset === undefined
    ? null
    : { network: { value: network, at }, asset: { value: asset, at } }
}

function readNetwork(request: Found<JsonObject> | null, method: string | undefined): Found<string> | null {
  const details = pick(request, 'methodDetails')
  const type = pickText(details, 'type')?.value
  // The method `usdc` nests the details of each profile in an object of its name.
  const profile =
    type !== undefined && ['evm', 'solana', 'stacks', 'gateway'].includes(type) ? pick(details, type) : null
  for (const from of [profile, details, request]) {
    const named = pickText(from, 'destinationNetwork') ?? pickText(from, 'network')
    if (type === 'stacks' && from === profile) {
      const chain = pickNumeral(from, 'chainId')
      if (chain !== null) return { value: `stacks:${chain.value}`, at: chain.at }
    }
    const chainId = pickNumeral(from, 'chainId')
    if (chainId?.isInteger === true) return { value: `eip155:${chainId.value}`, at: chainId.at }
    // Other methods call their own networks by the same names.
    const isSolana = method === 'solana' || type === 'solana'
    const cluster = named === null || !isSolana ? undefined : SOLANA_CLUSTERS[named.value]
    if (named !== null && cluster !== undefined) return { value: cluster, at: named.at }
    if (named !== null && /^[a-z\d-]{3,8}:[\w-]{1,64}$/.test(named.value)) return named
  }
  return null
}
