// Embedded EVM chains that answer as 8453 and 84532, with real USDC bytecode; started on demand.
import type { Logger } from '../log.ts'
import { Secret } from '../secret.ts'

export interface SandboxAccount {
  readonly address: string
  readonly privateKey: Secret<string>
}

export interface SandboxChains {
  /** Starts the chain on the first call. @throws when this platform has no binary: says what to install */
  rpcUrl(chainId: number): Promise<string>
  /** Generated per data directory, 0600; the payer has test USDC, the settler gas. */
  readonly payer: SandboxAccount
  readonly settlers: readonly SandboxAccount[]
  readonly payTo: string
  readonly chainIds: readonly number[]
  close(): Promise<void>
}

export async function openSandboxChains(_options: {
  dataDir: string
  log: Logger
  now: () => number
}): Promise<SandboxChains> {
  return {
    rpcUrl: () => Promise.reject(new Error('being written')),
    payer: { address: '0x0000000000000000000000000000000000000001', privateKey: new Secret('') },
    settlers: [],
    payTo: '0x0000000000000000000000000000000000000002',
    chainIds: [8453, 84532],
    async close() {},
  }
}
