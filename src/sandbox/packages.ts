// What the sandbox lacks. The node of its chains is an optional dependency: everything else works without it.
import type { Config } from '../core/config.ts'
import { IS_PACKAGED } from '../lib/packaged.ts'
import { findAnvil } from './anvil.ts'
import { pinOfThisMachine } from './anvil-pins.ts'

/** The chain ids that the sandbox runs itself where no `GATEWAY_RPC_<chain id>` names another endpoint. */
export const EMBEDDED_CHAINS = [8453, 84532] as const

/**
 * Looks where the node lies; it is not loaded.
 *
 * @returns a sentence that says what does not work and how to mend it; undefined where nothing is missing, or where every chain has a
 * configured endpoint
 */
export function missingSandboxPackage({
  rpcUrls,
  dataDir,
}: Pick<Config, 'rpcUrls' | 'dataDir'>): string | undefined {
  if (EMBEDDED_CHAINS.every((chainId) => rpcUrls[chainId] !== undefined)) return undefined
  try {
    findAnvil(dataDir)
    return undefined
  } catch {
    return `Missing: @foundry-rs/anvil, so test payments do not work. ${howToInstall()}`
  }
}

/** Whether `sandbox install` can get what is missing here. */
export const canInstall = (): boolean => IS_PACKAGED && pinOfThisMachine() !== undefined

function howToInstall(): string {
  if (!IS_PACKAGED) return 'Install with npm ci --include=optional.'
  if (canInstall()) return 'Run `agent-gateway sandbox install` once (43 MB, into the data directory).'
  return `There is none for ${process.platform}-${process.arch}: set GATEWAY_RPC_8453 and GATEWAY_RPC_84532 to nodes of yours.`
}
