// USDC balances as the chain states them.
import type { PaymentNetwork } from '../../core/networks.ts'
import type { SandboxChains } from '../../sandbox/chains.ts'
import { CommandFailure, Exit } from '../exit.ts'

export interface Balance {
  readonly network: string
  readonly who: 'payer' | 'paid to'
  readonly atomic: bigint
}

const TIMEOUT_MS = 10_000

/** The balances of the payer and of the one who is paid, on each network, in atomic units. */
export async function balancesOf(
  chains: SandboxChains,
  networks: readonly PaymentNetwork[],
): Promise<Balance[]> {
  const wanted = networks.flatMap((network) => [
    { network, who: 'payer' as const, address: chains.payer.address },
    { network, who: 'paid to' as const, address: chains.payTo },
  ])
  return Promise.all(
    wanted.map(async ({ network, who, address }) => ({
      network: network.network,
      who,
      atomic: await balanceOf(await chains.rpcUrl(network.chainId), network.asset.address, address),
    })),
  )
}

async function balanceOf(rpcUrl: string, asset: string, address: string): Promise<bigint> {
  // balanceOf(address)
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_call',
    params: [{ to: asset, data }, 'latest'],
  })
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const { result } = (await response.json()) as { result?: string }
  if (result === undefined)
    throw new CommandFailure(
      Exit.failed,
      'The embedded chain does not answer. Run the demo again, in a data directory of its own (GATEWAY_DATA_DIR).',
    )
  return BigInt(result)
}
