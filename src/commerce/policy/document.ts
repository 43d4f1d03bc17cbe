// The policy says what an account allows its agents to pay, as a document that an operator edits: transaction-policy.json, with `default` for
// everybody and `accounts` for those who differ. What is left out is as the default has it; nothing that is left out allows more.
import { z } from 'zod'
import { createDocumentReader } from '../../core/document-reader.ts'
import type { DocumentKind, DocumentStore } from '../../store/ports.ts'
import {
  SPEND_HOLDERS,
  SPEND_PERIODS,
  type SpendHolder,
  type SpendPeriod,
} from '../../../schemas/commerce.ts'
import { KNOWN_NETWORKS, KNOWN_STABLECOINS, toAddress, toNetwork } from './assets.ts'

const Address = z.string().min(1).max(128)
const Network = z.string().min(1).max(64)
const Currency = z.string().regex(/^[A-Za-z]{3}$/, 'must be an ISO 4217 code')
const Recipient = z.strictObject({
  address: Address,
  /** Every network is meant where it is left out. */
  network: Network.optional(),
})

const Amount = z.string().regex(/^\d{1,78}$/)

const Cap = z.union([
  z.strictObject({ asset: Address, network: Network, max: Amount }),
  z.strictObject({ currency: Currency, max: Amount }),
])

const window = {
  /** Rolling: the hour or the day that ends now. */
  period: z.enum(SPEND_PERIODS),
  /** Whose payments are added up: all of the account, or those to one recipient, or under one mandate, session or checkout. */
  per: z.enum(SPEND_HOLDERS).default('all'),
  max: Amount,
}
const SpendWindow = z.union([
  z.strictObject({ ...window, asset: Address, network: Network }),
  z.strictObject({ ...window, currency: Currency }),
])

const Rules = z.strictObject({
  /** True: every transaction is denied until it is false again. Of the default, it holds for every account. */
  halted: z.boolean().optional(),
  /** True: what has no idempotency key is denied, not only reviewed. */
  require_key: z.boolean().optional(),
  /** Each is in the smallest unit of its asset: amounts of two assets are never added up. */
  caps: z.array(Cap).max(1000).optional(),
  /** What the payments that were counted may add up to, by the hour or the day. */
  spend_windows: z.array(SpendWindow).max(100).optional(),
  allowed_assets: z
    .array(z.strictObject({ asset: Address, network: Network }))
    .max(1000)
    .optional(),
  allowed_networks: z.array(Network).max(1000).optional(),
  /** Null: every currency; its caps decide. */
  allowed_currencies: z.array(Currency).max(200).nullable().optional(),
  allowed_schemes: z.array(z.string().min(1).max(64)).max(100).optional(),
  /** Null: everybody who is not denied. An empty list: nobody. */
  allowed_recipients: z.array(Recipient).max(100_000).nullable().optional(),
  /** Those of the default are denied to every account. */
  denied_recipients: z.array(Recipient).max(100_000).optional(),
  /** How long a payment may stay valid from now on. */
  max_window_seconds: z.int().min(1).max(31_536_000).optional(),
  /** The same of mandates and allowances, which are made before the purchase. */
  max_mandate_seconds: z.int().min(1).max(31_536_000).optional(),
})
export type PolicyRules = z.infer<typeof Rules>

const TransactionPolicyDocument = z.strictObject({
  default: Rules.default({}),
  accounts: z
    .record(z.string().regex(/^acct_[0-9A-Za-z]{1,64}$/, 'must be the id of an account'), Rules)
    .default({}),
})
export type TransactionPolicyDocument = z.infer<typeof TransactionPolicyDocument>

export const transactionPolicyDocument: DocumentKind<TransactionPolicyDocument> = {
  name: 'transaction-policy',
  parse: (value) => TransactionPolicyDocument.parse(value),
  initial: { default: {}, accounts: {} },
}

/** What is paid with. */
export type SpendUnit = { readonly asset: string; readonly network: string } | { readonly currency: string }

export interface SpendLimit {
  readonly period: SpendPeriod
  readonly per: SpendHolder
  readonly max: bigint
}

export interface Policy {
  readonly source: 'default' | 'account'
  /** Whether somebody wrote any of it, for this account or for everybody. */
  readonly isWritten: boolean
  readonly isHalted: boolean
  readonly requiresKey: boolean
  /** Undefined: unset, which allows nothing. */
  capOf(asset: string, network: string): bigint | undefined
  capOfCurrency(currency: string): bigint | undefined
  readonly hasSpendWindows: boolean
  /** Those of an asset on its network, or of a currency; of several of one kind the tightest. */
  spendWindowsOf(unit: SpendUnit): readonly SpendLimit[]
  allowsAsset(asset: string, network: string): boolean
  allowsNetwork(network: string): boolean
  allowsCurrency(currency: string): boolean
  allowsScheme(scheme: string): boolean
  /** `network` is undefined where the transaction does not say. */
  judgeRecipient(address: string, network: string | undefined): 'allowed' | 'denied' | 'not_listed'
  readonly maxWindowSeconds: number
  readonly maxMandateSeconds: number
}

/** The rules of one account, with what holds where a document says nothing. */
export type FullRules = { readonly [K in keyof PolicyRules]-?: Exclude<PolicyRules[K], undefined> }

/** What holds where no document says anything. */
export const BUILT_IN: FullRules = {
  halted: false,
  require_key: false,
  caps: [],
  spend_windows: [],
  allowed_assets: [...KNOWN_STABLECOINS],
  allowed_networks: [...KNOWN_NETWORKS],
  allowed_currencies: null,
  allowed_schemes: ['exact'],
  allowed_recipients: null,
  denied_recipients: [],
  max_window_seconds: 3600,
  max_mandate_seconds: 86_400,
}

/** A rule that a document leaves out is not in it at all, so the outer rules stay. */
const mergeRules = (...layers: readonly (PolicyRules | undefined)[]): FullRules =>
  Object.assign({ ...BUILT_IN }, ...layers) as FullRules

/** Whose rules: an account's own over those for everybody; everybody's where no account is given. */
export const fullRules = (document: TransactionPolicyDocument, accountId?: string): FullRules => {
  const rules = mergeRules(
    document.default,
    accountId !== undefined && Object.hasOwn(document.accounts, accountId)
      ? document.accounts[accountId]
      : undefined,
  )
  return { ...rules, halted: rules.halted || document.default.halted === true }
}

/** One text for one unit, however its address is written. */
export const unitKey = (unit: SpendUnit): string =>
  'asset' in unit ? pairKey(unit.asset, unit.network) : unit.currency.toUpperCase()

const pairKey = (asset: string, network: string) => `${toNetwork(network)} ${toAddress(asset)}`
const recipientKey = (address: string, network: string | undefined) =>
  `${network === undefined ? '*' : toNetwork(network)} ${toAddress(address)}`

/** @param accountId whose; undefined: nobody's, so the default */
export function toPolicy(document: TransactionPolicyDocument, accountId: string | undefined): Policy {
  const own =
    accountId !== undefined && Object.hasOwn(document.accounts, accountId)
      ? document.accounts[accountId]
      : undefined
  const rules = mergeRules(document.default, own)
  const caps = new Map<string, bigint>()
  for (const cap of rules.caps)
    caps.set('asset' in cap ? pairKey(cap.asset, cap.network) : cap.currency.toUpperCase(), BigInt(cap.max))
  const windows = toSpendLimits(rules)
  const assets = new Set(rules.allowed_assets.map(({ asset, network }) => pairKey(asset, network)))
  const networks = new Set(rules.allowed_networks.map(toNetwork))
  const currencies =
    rules.allowed_currencies && new Set(rules.allowed_currencies.map((one) => one.toUpperCase()))
  const schemes = new Set(rules.allowed_schemes)
  const toKeys = (list: readonly { address: string; network?: string | undefined }[]) =>
    new Set(list.map(({ address, network }) => recipientKey(address, network)))
  const allowed = rules.allowed_recipients && toKeys(rules.allowed_recipients)
  const denied = toKeys([...(document.default.denied_recipients ?? []), ...(own?.denied_recipients ?? [])])
  // A recipient who is denied on one network is not paid where nobody says which it is.
  const deniedAnywhere = new Set([...denied].map((key) => key.slice(key.indexOf(' ') + 1)))
  return {
    source: own === undefined ? 'default' : 'account',
    isWritten: own !== undefined || Object.keys(document.default).length > 0,
    isHalted: rules.halted || document.default.halted === true,
    requiresKey: rules.require_key,
    capOf: (asset, network) => caps.get(pairKey(asset, network)),
    capOfCurrency: (currency) => caps.get(currency.toUpperCase()),
    hasSpendWindows: windows.size > 0,
    spendWindowsOf: (unit) => windows.get(unitKey(unit)) ?? [],
    allowsAsset: (asset, network) => assets.has(pairKey(asset, network)),
    allowsNetwork: (network) => networks.has(toNetwork(network)),
    allowsCurrency: (currency) => currencies === null || currencies.has(currency.toUpperCase()),
    allowsScheme: (scheme) => schemes.has(scheme),
    judgeRecipient(address, network) {
      const keys = [recipientKey(address, undefined), recipientKey(address, network)]
      if (keys.some((key) => denied.has(key))) return 'denied'
      if (network === undefined && deniedAnywhere.has(toAddress(address))) return 'denied'
      return allowed === null || keys.some((key) => allowed.has(key)) ? 'allowed' : 'not_listed'
    },
    maxWindowSeconds: rules.max_window_seconds,
    maxMandateSeconds: rules.max_mandate_seconds,
  }
}

function toSpendLimits({ spend_windows: written }: FullRules): ReadonlyMap<string, readonly SpendLimit[]> {
  const limits = new Map<string, SpendLimit[]>()
  for (const one of written) {
    const { period, per } = one
    const key = unitKey(one)
    const others = limits.get(key) ?? []
    const same = others.find((other) => other.period === period && other.per === per)
    const max = BigInt(one.max)
    limits.set(key, [
      ...others.filter((other) => other !== same),
      { period, per, max: same !== undefined && same.max < max ? same.max : max },
    ])
  }
  return limits
}

/** Accounts whose rules are kept ready to be asked. */
const MAX_READY = 256

/**
 * The policy as it stands now, or stood a quarter of a second ago: every inspection asks, and the document is a file.
 * A hand edit that broke it is reported once, and the last good copy holds.
 */
export function createTransactionPolicyReader(
  documents: Pick<DocumentStore, 'read'>,
  report: (problem: string) => void,
  now: () => number,
): (accountId: string | undefined) => Promise<Policy> {
  const readDocument = createDocumentReader({
    documents,
    kind: transactionPolicyDocument,
    toValue: (document) => document,
    report,
    now,
  })
  let ready = new Map<string, Policy>()
  let readyOf: TransactionPolicyDocument | undefined

  return async (accountId) => {
    const document = await readDocument()
    if (document !== readyOf || ready.size >= MAX_READY) {
      readyOf = document
      ready = new Map()
    }
    const key = accountId !== undefined && Object.hasOwn(document.accounts, accountId) ? accountId : ''
    let policy = ready.get(key)
    if (policy === undefined) ready.set(key, (policy = toPolicy(document, accountId)))
    return policy
  }
}
