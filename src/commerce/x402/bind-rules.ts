// A payment of x402 has to agree with what is asked for: one function a statement, over plain values: no places, no
// text for people, no clock. The payment firewall refuses by these verdicts, in its own order and words; inspection, scoring and
// the edge report them with their places. What one side does not say is `unverifiable`: whoever needs it said refuses that.
import { compareAmounts, compareResources, isSameAddress, toUrl, type Verdict } from '../compare.ts'

type Said<T> = T | null | undefined

/** A requirement of v2; one of v1 has the same members under other names. What it does not say is left out or null. */
export interface X402Terms {
  readonly scheme?: Said<string>
  /** CAIP-2, where there is one. */
  readonly network?: Said<string>
  /** Whole number of the smallest unit, in decimal digits. */
  readonly amount?: Said<string>
  readonly asset?: Said<string>
  readonly payTo?: Said<string>
  readonly maxTimeoutSeconds?: Said<number>
  readonly extra?: unknown
}

/** The payer signed this: EIP-3009 or Permit2. */
export interface X402Transfer {
  readonly to: string | null
  /** The amount is in the smallest unit. */
  readonly amount: bigint | null
  /** Permit2 names its token; EIP-3009 is signed for the domain of the asset itself. */
  readonly asset: string | null
}

export interface X402Paid {
  readonly scheme: string | null
  /** CAIP-2, where there is one. */
  readonly network: string | null
  /** The requirement that the payer says it accepted; null for v1. */
  readonly accepted: X402Terms | null
  /** Null where what was signed cannot be looked into. */
  readonly transfer: X402Transfer | null
}

export type X402Rule = 'scheme' | 'network' | 'asset' | 'pay_to' | 'amount' | 'accepted'

type Judge = (paid: X402Paid, asked: X402Terms) => Verdict

const verdictOf = (isSame: boolean): Verdict => (isSame ? 'match' : 'mismatch')

function compareText(one: Said<string>, other: Said<string>): Verdict {
  return one == null || other == null ? 'unverifiable' : verdictOf(one === other)
}

/** Accounts and tokens of an EVM are the same in any case; those of other families are not. */
function compareAccounts(one: Said<string>, other: Said<string>, network: Said<string>): Verdict {
  if (one == null || other == null) return 'unverifiable'
  return verdictOf(one === other || (isEvmOrUnknown(network) && isSameAddress(one, other)))
}

const isEvmOrUnknown = (network: Said<string>): boolean => network == null || network.startsWith('eip155:')

/** They stand in the order in which the firewall asks. */
export const X402_RULES = {
  scheme: (paid, asked) => compareText(paid.scheme, asked.scheme),
  network: (paid, asked) => compareText(paid.network, asked.network),
  asset: ({ transfer, network }, asked) => compareAccounts(transfer?.asset, asked.asset, network),
  pay_to: ({ transfer, network }, asked) => compareAccounts(transfer?.to, asked.payTo, network),
  amount: ({ transfer }, asked) =>
    transfer == null || transfer.amount === null || asked.amount == null
      ? 'unverifiable'
      : compareAmounts(transfer.amount, BigInt(asked.amount), asked.scheme ?? 'exact'),
  accepted: ({ accepted }, asked) =>
    accepted === null ? 'unverifiable' : verdictOf(findDifference(accepted, asked) === undefined),
} as const satisfies Readonly<Record<X402Rule, Judge>>

/** All of them at once, for who reports and does not refuse. */
export function judgeX402(paid: X402Paid, asked: X402Terms): Readonly<Record<X402Rule, Verdict>> {
  return {
    scheme: X402_RULES.scheme(paid, asked),
    network: X402_RULES.network(paid, asked),
    asset: X402_RULES.asset(paid, asked),
    pay_to: X402_RULES.pay_to(paid, asked),
    amount: X402_RULES.amount(paid, asked),
    accepted: X402_RULES.accepted(paid, asked),
  }
}

export type X402Member = 'scheme' | 'network' | 'amount' | 'asset' | 'payTo' | 'maxTimeoutSeconds' | 'extra'

/**
 * The first member in which a payer's `accepted` differs from what is asked: core members are equal (an address in any case),
 * and everything in the requirement's `extra` is there too. What one of them leaves out of the others is no difference.
 */
export function findDifference(accepted: X402Terms, asked: X402Terms): X402Member | undefined {
  const differs = (one: Said<string | number>, other: Said<string | number>) =>
    one != null && other != null && one !== other
  const { network } = asked
  if (differs(accepted.scheme, asked.scheme)) return 'scheme'
  if (differs(accepted.network, network)) return 'network'
  if (differs(accepted.amount, asked.amount)) return 'amount'
  if (compareAccounts(accepted.asset, asked.asset, network) === 'mismatch') return 'asset'
  if (compareAccounts(accepted.payTo, asked.payTo, network) === 'mismatch') return 'payTo'
  if (differs(accepted.maxTimeoutSeconds, asked.maxTimeoutSeconds)) return 'maxTimeoutSeconds'
  return containsAll(accepted.extra ?? {}, asked.extra ?? {}) ? undefined : 'extra'
}

/** Whether everything in `part` is in `whole`; members of objects may be added, items of lists may not. */
function containsAll(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return whole === part
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole) !== Array.isArray(part))
    return false
  if (Array.isArray(part) && part.length !== (whole as unknown[]).length) return false
  return Object.entries(part).every(
    ([key, inner]) =>
      Object.hasOwn(whole, key) && containsAll((whole as Record<string, unknown>)[key], inner),
  )
}

/** The EIP-712 domain of a token, as it answers `name` and `version`. */
export interface SigningDomain {
  readonly name: string
  readonly version: string
}

/**
 * A requirement's `extra` may name another domain than the token's own: what is signed for that is worth nothing.
 * @param isRequired EIP-3009 is signed for this domain; elsewhere it is only mentioned
 */
export function findDomainDifference(
  extra: Readonly<Record<string, unknown>> | null | undefined,
  domain: SigningDomain,
  isRequired: boolean,
): 'missing' | 'name' | 'version' | undefined {
  const { name, version } = extra ?? {}
  if (isRequired && (!name || !version)) return 'missing'
  if (name !== undefined && name !== domain.name) return 'name'
  return version !== undefined && version !== domain.version ? 'version' : undefined
}

/** The resource of a payment against where it is spent: the same URL once it is normalised, fragments aside. */
export function compareResourceTexts(paid: string, spent: string): Verdict {
  if (paid === spent) return 'match'
  const [left, right] = [toUrl(paid), toUrl(spent)]
  return left === undefined || right === undefined ? 'unverifiable' : compareResources(right, left)
}
