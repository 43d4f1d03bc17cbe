// x402 by Permit2: who may take the money. The payer names a spender, and only the proxies of x402 hold themselves to the witness,
// which says who is paid. They have one address on every EVM chain (CREATE2).
import { isSameAddress, type Verdict } from '../compare.ts'

/** Proxy by scheme (specs/schemes/exact/scheme_exact_evm.md, upto/scheme_upto_evm.md; `@x402/evm` 2.27 has the same). */
export const PERMIT2_PROXIES: ReadonlyMap<string, string> = new Map([
  ['exact', '0x402085c248EeA27D92E8b30b2C58ed07f9E20001'],
  ['upto', '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002'],
])

/** Proxies of earlier releases: they keep to the witness, and today's facilitators do not settle through them. */
const FORMER_PROXIES = [
  '0x40203F636c4EDFaFc36933837FFB411e1c031B50',
  '0x4020615294c913F045dc10f0a5cdEbd86c280001',
  '0x4020633461b2895a48930Ff97eE8fCdE8E520002',
  '0x402039b3d6E6BEC5A02c2C9fd937ac17A6940002',
]

/**
 * The spender of a permit against its scheme. Partial: a proxy of an earlier release.
 * @returns undefined where the scheme has no proxy of its own
 */
export function judgeSpender(spender: string, scheme: string): Verdict | undefined {
  const proxy = PERMIT2_PROXIES.get(scheme)
  if (proxy === undefined) return undefined
  if (isSameAddress(proxy, spender)) return 'match'
  return FORMER_PROXIES.some((former) => isSameAddress(former, spender)) ? 'partial' : 'mismatch'
}
