// A transaction of a chain: a link where an explorer of everybody shows it, else its hash alone.
import type { VNode } from 'preact'
import { Foreign } from './foreign.tsx'
import { Link } from './link.tsx'

/** Explorers by CAIP-2 network. */
const EXPLORERS: Readonly<Record<string, string>> = {
  'eip155:1': 'https://etherscan.io',
  'eip155:10': 'https://optimistic.etherscan.io',
  'eip155:137': 'https://polygonscan.com',
  'eip155:8453': 'https://basescan.org',
  'eip155:42161': 'https://arbiscan.io',
  'eip155:43114': 'https://snowtrace.io',
  'eip155:84532': 'https://sepolia.basescan.org',
}

/**
 * @param network CAIP-2
 * @param environment of the gateway that settled; the chains of a sandbox are its own, and no explorer knows them
 * @returns undefined where there is no page of the transaction
 */
export function transactionUrl(hash: string, network: string, environment: string): string | undefined {
  const explorer = Object.hasOwn(EXPLORERS, network) ? EXPLORERS[network] : undefined
  if (explorer === undefined || environment === 'sandbox' || !/^0x[0-9a-f]{64}$/i.test(hash)) return undefined
  return `${explorer}/tx/${hash}`
}

interface TransactionProps {
  readonly hash: string
  readonly network: string
  readonly environment: string
}

export function Transaction({ hash, network, environment }: TransactionProps): VNode {
  const url = transactionUrl(hash, network, environment)
  const shown = <Foreign text={hash} max={80} class="mono" />
  return url === undefined ? (
    shown
  ) : (
    <Link to={url} isForeign>
      {shown}
    </Link>
  )
}
