// Embedded EVM chains that answer as 8453 and 84532, with the real USDC code; started on demand, kept across restarts.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../lib/log.ts'
import type { Secret } from '../lib/secret.ts'
import { createNetworks } from '../core/networks.ts'
import { openSandboxAccounts, type SandboxAccount } from './accounts.ts'
import { openEmbeddedChain } from './embedded-chain.ts'
import { EMBEDDED_CHAINS } from './packages.ts'

export type { SandboxAccount } from './accounts.ts'

export interface SandboxChains {
  /** Starts the chain on the first call. @throws when this platform has no binary: says what to install */
  rpcUrl(chainId: number): Promise<string>
  /** Generated per data directory, 0600; the payer has test USDC, the settlers gas. */
  readonly payer: SandboxAccount
  readonly settlers: readonly SandboxAccount[]
  readonly payTo: string
  /** Of the account that is paid: refunds leave from it. */
  readonly payToKey: Secret<string>
  readonly chainIds: readonly number[]
  close(): Promise<void>
}

/** @throws {ConfigError} when the accounts cannot be read */
export async function openSandboxChains(options: {
  dataDir: string
  log: Logger
  now: () => number
  /** For a node of another gateway to answer, in milliseconds; for tests. */
  probeMs?: number
}): Promise<SandboxChains> {
  const { dataDir, log, probeMs } = options
  const folder = join(dataDir, 'chains')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const accounts = await openSandboxAccounts(join(folder, 'accounts.json'))
  const chains = new Map(
    createNetworks(EMBEDDED_CHAINS).all.map((network) => [
      network.chainId,
      openEmbeddedChain({ folder, network, accounts, log, probeMs }),
    ]),
  )
  return {
    rpcUrl(chainId) {
      const chain = chains.get(chainId)
      return chain ? chain.rpcUrl() : Promise.reject(new Error(`the sandbox has no chain ${chainId}`))
    },
    payer: accounts.payer,
    settlers: accounts.settlers,
    payTo: accounts.payTo.address,
    payToKey: accounts.payTo.privateKey,
    chainIds: EMBEDDED_CHAINS,
    async close() {
      await Promise.all([...chains.values()].map((chain) => chain.close()))
    },
  }
}
