// What a payment has to say before anybody can be held to it: one list of members for each kind of payment, and one function that looks for
// them. Inspection denies what lacks one, the test caps its score, the edge blocks it, and the payment firewall takes nothing else.
// A kind names members of the one object in which its protocol puts what the payer agreed to.
import { isPlaceholder } from './decode/jws.ts'
import { member, pointer } from './decode/value.ts'
import type { Json, Place } from './ports.ts'

/** What a member has to look like to be usable at all. Whether it is the right one is what bindings and the policy ask. */
export type MemberForm =
  /** Bytes of a signature, in the spelling of its protocol. */
  | 'signature'
  /** 20 bytes of an EVM in hex, not all zero. */
  | 'address'
  /** Whole number of 256 bits at most, in digits; a JSON number where it is exact. */
  | 'uint'
  /** The same, and not zero: nothing is paid with it otherwise. */
  | 'amount'
  /** 32 bytes in hex. */
  | 'word'
  /** Whole number of 256 bits at most, in digits or in hex. */
  | 'uint256'
  /** List of texts that is not empty. */
  | 'texts'
  /** Text that is not empty. */
  | 'text'

export interface SignedMember {
  /** Names of members, from the object of the statement inwards. */
  readonly path: readonly string[]
  readonly form: MemberForm
}

const members = (list: Readonly<Record<string, MemberForm>>): readonly SignedMember[] =>
  Object.entries(list).map(([path, form]) => ({ path: path.split('.'), form }))

const PERMIT2 = {
  signature: 'signature',
  'permit2Authorization.from': 'address',
  'permit2Authorization.permitted.token': 'address',
  'permit2Authorization.permitted.amount': 'amount',
  'permit2Authorization.spender': 'address',
  'permit2Authorization.nonce': 'uint256',
  'permit2Authorization.deadline': 'uint',
} as const
const WITNESS = {
  'permit2Authorization.witness.to': 'address',
  'permit2Authorization.witness.validAfter': 'uint',
} as const

/** Members by kind of payment. A path is written with dots. */
export const SIGNED_MEMBERS = {
  /** `payload` of x402: the transfer of EIP-3009 (specs/schemes/exact/scheme_exact_evm.md). */
  eip3009: members({
    signature: 'signature',
    'authorization.from': 'address',
    'authorization.to': 'address',
    'authorization.value': 'amount',
    'authorization.validAfter': 'uint',
    'authorization.validBefore': 'uint',
    'authorization.nonce': 'word',
  }),
  /** The same by Permit2: the proxy of `exact` pays nobody but `witness.to` (the same document, section 2). */
  permit2: members({ ...PERMIT2, ...WITNESS }),
  /** The proxy of `upto` takes less than was signed, and only from one facilitator (specs/schemes/upto/scheme_upto_evm.md). */
  'permit2-upto': members({ ...PERMIT2, ...WITNESS, 'permit2Authorization.witness.facilitator': 'address' }),
  /** `auth-capture` and others: the collector that spends knows the payee by the nonce, so there is no witness of that form. */
  'permit2-collected': members(PERMIT2),
  /** A delegation of ERC-7710, opaque to everybody but its manager (scheme_exact_evm.md, section 3). */
  erc7710: members({ delegationManager: 'address', delegator: 'address', permissionContext: 'signature' }),
  /** Transaction with the payer's signature in it: Solana, Aptos, Hedera, Stellar (specs/schemes/exact/). */
  'x402-transaction': members({ transaction: 'signature' }),
  /** Sui sends the signature beside it. */
  'x402-sui': members({ transaction: 'signature', signature: 'signature' }),
  /** The same on Keeta. */
  'x402-block': members({ block: 'signature' }),
  /** The same on Algorand, whose transactions go in groups. */
  'x402-group': members({ paymentGroup: 'texts' }),
} as const satisfies Readonly<Record<string, readonly SignedMember[]>>

export type SignedKind = keyof typeof SIGNED_MEMBERS

/** What a protocol found that somebody agreed to. */
export interface SignedStatement {
  readonly kind: SignedKind
  readonly value: Json | undefined
  readonly at: Place
}

/** A member that a statement lacks, or that cannot be what it says it is. */
export interface Lack {
  readonly kind: SignedKind
  /** Path of the member, with dots. */
  readonly member: string
  /** A `placeholder` is an example's ellipsis: the message is complete, and nothing of it is signed. */
  readonly is: 'missing' | 'malformed' | 'placeholder'
  /** Where it stands, or should. */
  readonly at: Place
}

/** The members of its kind that a statement lacks, in the order of the list. Never throws. */
export function findLacks({ kind, value, at }: SignedStatement): Lack[] {
  return SIGNED_MEMBERS[kind].flatMap(({ path, form }) => {
    const stated = path.reduce<Json | undefined>((inner, name) => member(inner, name), value)
    const is = isMissing(stated) ? 'missing' : judgeForm(stated, form)
    return is === undefined ? [] : [{ kind, member: path.join('.'), is, at: pointer(at, ...path) }]
  })
}

function judgeForm(value: Json, form: MemberForm): Lack['is'] | undefined {
  if (typeof value === 'string' && isExample(value, form)) return 'placeholder'
  return FORMS[form](value) ? undefined : 'malformed'
}

/** Specifications write `0x…` for a signature, and `0xFacilitatorAddress…` for an address. */
const isExample = (text: string, form: MemberForm): boolean =>
  form === 'signature' ? isPlaceholder(text) : form === 'address' && /^0x[A-Za-z]*Address\w*$/.test(text)

const isMissing = (value: Json | undefined): value is null | undefined =>
  value === undefined || value === null || value === ''

const isHex = (value: Json, bytes: number): value is string =>
  typeof value === 'string' && value.length === 2 + 2 * bytes && /^0x[\da-f]+$/i.test(value)

const isUint = (value: Json): boolean =>
  typeof value === 'number'
    ? Number.isSafeInteger(value) && value >= 0
    : typeof value === 'string' && value.length <= 78 && /^\d+$/.test(value)

const isNonEmptyText = (value: unknown): boolean => typeof value === 'string' && value !== ''

const FORMS: Readonly<Record<MemberForm, (value: Json) => boolean>> = {
  signature: (value) => typeof value === 'string' && value.length >= 16,
  address: (value) => isHex(value, 20) && !/^0x0+$/.test(value),
  uint: isUint,
  amount: (value) => isUint(value) && !/^0+$/.test(String(value)),
  word: (value) => isHex(value, 32),
  uint256: (value) => isUint(value) || (typeof value === 'string' && /^0x[\da-f]{1,64}$/i.test(value)),
  texts: (value) => Array.isArray(value) && value.length > 0 && value.every(isNonEmptyText),
  text: (value) => typeof value === 'string',
}
