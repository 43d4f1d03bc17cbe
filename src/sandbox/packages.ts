// What the sandbox lacks. The node of its chains is an optional dependency: everything else works without it.
import { findAnvil } from './anvil.ts'

/** The chain ids that the sandbox runs itself where no `GATEWAY_RPC_<chain id>` names another endpoint. */
export const EMBEDDED_CHAINS = [8453, 84532] as const

/**
 * Looks where the node lies; it is not loaded.
 *
 * @param rpcUrls configured JSON-RPC endpoints by chain id; with one for every chain, no embedded chain is needed
 * @returns a sentence that says what does not work and how to mend it; undefined where nothing is missing
 */
export function missingSandboxPackage(rpcUrls: Readonly<Record<number, string>>): string | undefined {
  if (EMBEDDED_CHAINS.every((chainId) => rpcUrls[chainId] !== undefined)) return undefined
  try {
    findAnvil()
    return undefined
  } catch {
    return 'Missing: @foundry-rs/anvil, so test payments do not work. Install with npm ci --include=optional.'
  }
}
