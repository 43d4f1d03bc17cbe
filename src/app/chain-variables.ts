// Judges the variables about chains, GATEWAY_RPC_<chain id> and GATEWAY_PAYMENT_ASSETS (tokens of further chains): how they are
// written, and whether they fit each other. What the tokens are is asked of their chains.
import type { Config, PaymentAsset } from '../core/config.ts'
import { KNOWN_CHAIN_IDS, type NamedAsset } from '../core/networks.ts'

/** `GATEWAY_RPC_<chain id>`: any number of them, so they are not part of the fixed list. */
export function readRpcUrls(
  present: Readonly<Record<string, string | undefined>>,
  isHttpUrl: (text: string) => boolean,
): { readonly urls: Readonly<Record<number, string>>; readonly problems: readonly string[] } {
  const urls: Record<number, string> = {}
  const problems: string[] = []
  for (const [name, value = ''] of Object.entries(present)) {
    if (!name.startsWith('GATEWAY_RPC_')) continue
    const chainId = /^GATEWAY_RPC_([1-9]\d{0,9})$/.exec(name)?.[1]
    if (chainId === undefined) problems.push(`${name}: name it GATEWAY_RPC_<chain id>, e.g. GATEWAY_RPC_8453`)
    else if (!isHttpUrl(value)) problems.push(`${name} must be an http or https URL`)
    else urls[Number(chainId)] = value
  }
  return { urls, problems }
}

/** CAIP-19, and what the token is worth: an operator who does not say it is not guessed for. */
export function readPaymentAssets(entries: readonly string[]): {
  readonly entries: readonly PaymentAsset[]
  readonly problems: readonly string[]
} {
  const read = entries.map((entry, i) => {
    const [, chainId, address, money] =
      /^eip155:([1-9]\d{0,9})\/erc20:(0x[0-9a-fA-F]{40})=(real|test)$/.exec(entry) ?? []
    const isRead = chainId !== undefined && address !== undefined && (money === 'real' || money === 'test')
    return isRead
      ? { asset: { chainId: Number(chainId), address, money } satisfies PaymentAsset }
      : {
          problem:
            `GATEWAY_PAYMENT_ASSETS: entry ${i + 1} must be eip155:<chain id>/erc20:<address>=real, ` +
            'or end with =test where the token is test money',
        }
  })
  return {
    entries: read.flatMap(({ asset }) => asset ?? []),
    problems: read.flatMap(({ problem }) => problem ?? []),
  }
}

/** Each is a problem of the configuration, in words. */
export async function listChainProblems({
  paymentAssets,
  rpcUrls,
}: Pick<Config, 'paymentAssets' | 'rpcUrls'>): Promise<string[]> {
  const problems = Object.keys(rpcUrls)
    .map(Number)
    .filter((chainId) => !isKnown(chainId) && !paymentAssets.some((asset) => asset.chainId === chainId))
    .map(
      (chainId) =>
        `GATEWAY_RPC_${chainId}: no USDC is known on chain ${chainId}; known are ${KNOWN_CHAIN_IDS.join(', ')}. ` +
        `Name a token of it in GATEWAY_PAYMENT_ASSETS, or correct the number`,
    )
  for (const [i, { chainId, address }] of paymentAssets.entries()) {
    const say = (words: string) => problems.push(`GATEWAY_PAYMENT_ASSETS: entry ${i + 1} ${words}`)
    if (isKnown(chainId)) say(`is of chain ${chainId}, where USDC is taken and nothing else: leave it out`)
    else if (rpcUrls[chainId] === undefined)
      say(`needs GATEWAY_RPC_${chainId}, a JSON-RPC endpoint of its chain`)
    if (paymentAssets.findIndex((asset) => asset.chainId === chainId) < i)
      say(`is the second one of chain ${chainId}: one token is taken on a chain`)
    if (!(await isSpelledRight(address)))
      say('is mistyped: the capitals of its address do not fit the rest of it (EIP-55)')
  }
  return problems
}

/** As the networks take them: with the checksum of the address, which facilitators demand. */
export async function toNamedAssets(assets: readonly PaymentAsset[]): Promise<NamedAsset[]> {
  if (assets.length === 0) return []
  const { checksum } = await import('ox/Address')
  return assets.map(({ chainId, address, money }) => ({
    chainId,
    address: checksum(address),
    revenue: money === 'real',
  }))
}

/** Capitals of an address are its checksum; one without any has none. */
export async function isSpelledRight(address: string): Promise<boolean> {
  const digits = address.slice(2)
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true
  const { validate } = await import('ox/Address')
  return validate(address, { strict: true })
}

const isKnown = (chainId: number) => KNOWN_CHAIN_IDS.includes(chainId)
