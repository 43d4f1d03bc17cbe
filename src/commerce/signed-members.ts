// What a payment has to say before anybody can be held to it: one list of members for each kind of payment, and one function that looks for
// them. Inspection denies what lacks one, the test caps its score, the edge blocks it, and the payment firewall takes nothing else.
// A kind names members of the one object in which its protocol puts what the payer agreed to.
import { isPlaceholder } from './decode/jws.ts'
import {
  isAsymmetric,
  isAudience,
  isConfirmation,
  isInstant,
  isJws,
  isJwsSignature,
  isParty,
} from './decode/jwt-forms.ts'
import { isObject, member, parseInstant, pointer } from './decode/value.ts'
import type { Json, Place } from './ports.ts'

/** What a member has to look like to be usable at all. Whether it is the right one is what bindings and the policy ask. */
export type MemberForm =
  /** Bytes of a signature, in the spelling of its protocol. */
  | 'signature'
  /** Bytes of 12 or more in base64 or hex, which only their chain can read. */
  | 'sealed'
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
  /** Whatever a method proves a payment with: a transaction, its hash, a preimage, a token. An example's ellipsis is told apart. */
  | 'proof'
  /** The same of a method that nobody here knows: whatever text it is. */
  | 'evidence'
  /** 20 bytes of an EVM in hex, where all zero means that there is nobody. */
  | 'address_or_none'
  /** Whole number in digits that fits into so many bits. */
  | 'uint64'
  | 'uint96'
  | 'uint128'
  /** Text without blanks and capitals. */
  | 'name'
  /** An object with at least one member. */
  | 'object'
  /** An object, or the text of one in base64url. */
  | 'document'
  /** Signature, and all of it, of a JWT. */
  | 'jws-signature'
  | 'jws'
  /** `alg`, `iat`, `aud` and `cnf` of one. */
  | 'algorithm'
  | 'instant'
  | 'audience'
  | 'confirmation'
  /** Merchant or payee. */
  | 'party'
  /** A number in any spelling: what it is worth, the rules on money say. */
  | 'stated'
  /** RFC 3339. */
  | 'timestamp'
  /** The one reason for which ACP lets a card be used. */
  | 'one_time'
  /** Stands for a card. An example's ellipsis is told apart. */
  | 'token'

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

const VOUCHER = { channelId: 'word', signature: 'proof' } as const

/** MPP by methods, intents, actions and types of payload (the drafts of the methods, "Credential Schema"). */
const MPP_MEMBERS = {
  'mpp-credential': members({ challenge: 'object', payload: 'object' }),
  /** Those that the id is bound to (draft-httpauth-payment-00, 5.1.1 and 5.2). */
  'mpp-challenge': members({
    id: 'text',
    realm: 'text',
    method: 'name',
    intent: 'text',
    request: 'document',
  }),
  'mpp-legacy': members({ id: 'text', payload: 'object' }),
  'mpp-source': members({ source: 'text' }),
  'mpp-proof': members({ proof: 'evidence' }),
  'mpp-signature': members({ signature: 'proof' }),
  'mpp-hash': members({ hash: 'proof' }),
  'mpp-transaction': members({ transaction: 'proof' }),
  'mpp-transaction-id': members({ transactionId: 'proof' }),
  'mpp-preimage': members({ preimage: 'proof' }),
  'mpp-shared-token': members({ spt: 'proof' }),
  'mpp-payment-method': members({ paymentMethod: 'proof' }),
  'mpp-card': members({
    encryptedPayload: 'proof',
    network: 'text',
    panLastFour: 'text',
    panExpirationMonth: 'text',
    panExpirationYear: 'text',
  }),
  'mpp-authorization': members({
    signature: 'proof',
    from: 'address',
    to: 'address',
    value: 'amount',
    validAfter: 'uint',
    validBefore: 'uint',
    nonce: 'word',
  }),
  'mpp-permit2': members({
    signature: 'proof',
    'permit.nonce': 'uint',
    'permit.deadline': 'uint',
    'witness.challengeHash': 'word',
  }),
  'mpp-permitted': members({ token: 'address', amount: 'amount' }),
  'mpp-transfer': members({ to: 'address', requestedAmount: 'amount' }),
  'mpp-gateway': members({
    sourceNetwork: 'text',
    destinationNetwork: 'text',
    maxFee: 'uint',
    authorization: 'object',
  }),
  'mpp-session': members({ action: 'text' }),
  'mpp-voucher': members({ ...VOUCHER, cumulativeAmount: 'uint128' }),
  'mpp-voucher-v2': members({ ...VOUCHER, cumulativeAmount: 'uint96' }),
  'mpp-descriptor': members({
    payer: 'address',
    payee: 'address',
    operator: 'address_or_none',
    token: 'address',
    salt: 'word',
    authorizedSigner: 'address_or_none',
    expiringNonceHash: 'word',
  }),
  'mpp-open-hash': members({ hash: 'proof', salt: 'word' }),
  'mpp-open-signed': members({
    channelId: 'word',
    cumulativeAmount: 'uint128',
    voucherSignature: 'proof',
    salt: 'word',
  }),
  'mpp-open-broadcast': members({ txHash: 'proof' }),
  'mpp-top-up': members({ channelId: 'word', additionalDeposit: 'amount' }),
  'mpp-deposit-authorization': members({
    signature: 'proof',
    'authorization.from': 'address',
    'authorization.to': 'address',
    'authorization.value': 'amount',
    'authorization.validAfter': 'uint',
    'authorization.validBefore': 'uint',
    'authorization.nonce': 'word',
  }),
  'mpp-deposit-permit2': members({
    signature: 'proof',
    'authorization.from': 'address',
    'authorization.permitted.token': 'address',
    'authorization.permitted.amount': 'amount',
    'authorization.nonce': 'uint',
    'authorization.deadline': 'uint',
    'authorization.witness': 'object',
  }),
  'mpp-channel': members({ channelId: 'text' }),
  'mpp-solana-open': members({
    channelId: 'text',
    payer: 'text',
    authorizedSigner: 'text',
    transaction: 'proof',
  }),
  'mpp-solana-voucher': members({ channelId: 'text', cumulativeAmount: 'uint64' }),
  'mpp-solana-signed': members({ signer: 'text', signature: 'proof' }),
  'mpp-solana-bearer': members({
    channelId: 'text',
    'authentication.challengeId': 'text',
    'authentication.payer': 'text',
    'authentication.signature': 'proof',
  }),
  'mpp-solana-top-up': members({
    channelId: 'text',
    additionalAmount: 'amount',
    transaction: 'proof',
  }),
  'mpp-lightning-open': members({ preimage: 'proof', returnInvoice: 'text' }),
  'mpp-lightning-bearer': members({ sessionId: 'proof', preimage: 'proof' }),
  'mpp-lightning-top-up': members({ sessionId: 'proof', topUpPreimage: 'proof' }),
} as const
const BOUND = { 'payload.iat': 'instant', 'payload.aud': 'audience', 'payload.nonce': 'text' } as const

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
  erc7710: members({ delegationManager: 'address', delegator: 'address', permissionContext: 'sealed' }),
  /** Transaction with the payer's signature in it: Solana, Aptos, Hedera, Stellar (specs/schemes/exact/). */
  'x402-transaction': members({ transaction: 'sealed' }),
  /** Sui sends the signature beside it. */
  'x402-sui': members({ transaction: 'sealed', signature: 'sealed' }),
  /** The same on Keeta. */
  'x402-block': members({ block: 'sealed' }),
  /** The same on Algorand, whose transactions go in groups. */
  'x402-group': members({ paymentGroup: 'texts' }),
  /** An offer that its server signed. */
  'x402-offer': members({ signature: 'proof' }),
  ...MPP_MEMBERS,
  /** Every token of AP2 0.2 (docs/ap2/agent_authorization.md). */
  'sd-jwt': members({ signature: 'jws-signature', 'header.alg': 'algorithm' }),
  /** A token whose holder was named before: RFC 9901, 4.3, and in AP2 behind an open mandate. */
  'sd-jwt-binding': members({ ...BOUND, 'payload.sd_hash': 'text' }),
  'sd-jwt-binding-issuer': members({ ...BOUND, 'payload.issuer_jwt_hash': 'text' }),
  /** Mandates by code/sdk/schemas/ap2/. */
  'sd-jwt-mandate': members({ vct: 'text' }),
  'sd-jwt-mandate-open': members({ cnf: 'confirmation' }),
  'sd-jwt-mandate-payment': members({
    transaction_id: 'text',
    payee: 'party',
    'payment_amount.amount': 'uint',
    'payment_amount.currency': 'text',
    'payment_instrument.id': 'text',
  }),
  'sd-jwt-mandate-checkout': members({ checkout_hash: 'text' }),
  'sd-jwt-mandate-disclosed': members({ checkout_jwt: 'jws' }),
  /** The last token of a chain has to show what it allows. */
  'sd-jwt-delegate': members({ vct: 'text' }),
  /** What a merchant signed for a mandate, and authorizations of AP2 0.1. */
  'merchant-jwt': members({ signature: 'jws-signature', 'header.alg': 'algorithm' }),
  /** `allowance` of ACP: what a delegated card may be used for (rfcs/rfc.delegate_payment.md, 3.5). */
  'card-token-allowance': members({
    reason: 'one_time',
    max_amount: 'stated',
    currency: 'text',
    checkout_session_id: 'text',
    merchant_id: 'text',
    expires_at: 'timestamp',
  }),
  /** `instrument` of ACP, which completes a checkout (schema PaymentData). */
  'card-token': members({ 'credential.type': 'text', 'credential.token': 'token' }),
  /** `payment_data` of ACP before 2026. */
  'card-token-2025': members({ token: 'token' }),
  /** Instrument of UCP with the credential of its handler (types/payment_credential.json). */
  'card-token-instrument': members({ 'credential.type': 'text' }),
  /** The same with a token of the network (types/network_token_credential.json). */
  'card-token-network': members({ 'credential.number': 'token', 'credential.cryptogram': 'token' }),
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

/** Whether a value has a form, an example's repeated digits included. */
export const isOfForm = (value: Json, form: MemberForm): boolean => FORMS[form](value)

function judgeForm(value: Json, form: MemberForm): Lack['is'] | undefined {
  if (typeof value === 'string' && isExample(value, form)) return 'placeholder'
  return isOfForm(value, form) ? undefined : 'malformed'
}

/** Specifications write `0x…` for a signature, `0xFacilitatorAddress…` for an address, and shorten what is long. */
function isExample(text: string, form: MemberForm): boolean {
  switch (form) {
    // All zeros are what an empty buffer is, and no example of anything.
    case 'signature':
      return isPlaceholder(text) && !/^0x0+$/.test(text)
    case 'sealed':
    case 'proof':
    case 'evidence':
    case 'jws-signature':
    case 'jws':
      return isPlaceholder(text)
    case 'address':
      return /^0x[A-Za-z]*Address\w*$/.test(text)
    // The same byte again and again is no example of these, but a choice.
    case 'word':
    case 'document':
    case 'token':
      return /\.{3}|…|^<.*>$/.test(text)
    default:
      return false
  }
}

const isMissing = (value: Json | undefined): value is null | undefined =>
  value === undefined || value === null || value === ''

const isHex = (value: Json, bytes: number): value is string =>
  typeof value === 'string' && value.length === 2 + 2 * bytes && /^0x[\da-fA-F]+$/.test(value)

const isUint = (value: Json): boolean =>
  typeof value === 'number'
    ? Number.isSafeInteger(value) && value >= 0
    : typeof value === 'string' &&
      value.length <= 78 &&
      /^\d+$/.test(value) &&
      (value.length < 78 || BigInt(value) < 1n << 256n)

const isNonEmptyText = (value: unknown): boolean => typeof value === 'string' && value !== ''

const isBelow =
  (limit: bigint) =>
  (value: Json): boolean =>
    isUint(value) && BigInt(String(value)) < limit

const FORMS: Readonly<Record<MemberForm, (value: Json) => boolean>> = {
  // Neither half of a key's signature can be zero. A longer one is a contract's, whose second word may well be: Coinbase's wallet puts the
  // index of its owner there.
  signature: (value) =>
    typeof value === 'string' &&
    /^0x(?:[\da-fA-F]{2}){64,}$/.test(value) &&
    !/^0x(?:0{64}[\da-f]{64}|[\da-f]{64}0{64})(?:[\da-f]{2})?$/i.test(value),
  sealed: (value) => typeof value === 'string' && value.length >= 16 && /^[\w+/-]+={0,2}$/.test(value),
  address: (value) => isHex(value, 20) && !/^0x0+$/.test(value),
  uint: isUint,
  amount: (value) => isUint(value) && !/^0+$/.test(String(value)),
  word: (value) => isHex(value, 32) && !/^0x0+$/.test(value),
  uint256: (value) => isUint(value) || (typeof value === 'string' && /^0x[\da-f]{1,64}$/i.test(value)),
  texts: (value) => Array.isArray(value) && value.length > 0 && value.every(isNonEmptyText),
  text: (value) => typeof value === 'string',
  // Hex, base64, base58 or a token: every encoding of one is printable and in one piece.
  proof: (value) => typeof value === 'string' && /^[!-~]{8,}$/.test(value),
  name: (value) => typeof value === 'string' && /^[^\sA-Z]+$/.test(value),
  evidence: (value) => typeof value === 'string',
  address_or_none: (value) => isHex(value, 20),
  uint64: isBelow(1n << 64n),
  uint96: isBelow(1n << 96n),
  uint128: isBelow(1n << 128n),
  object: (value) => isObject(value) && Object.keys(value).length > 0,
  document: (value) => isObject(value) || (typeof value === 'string' && /^[\w+/-]+={0,2}$/.test(value)),
  'jws-signature': isJwsSignature,
  jws: isJws,
  algorithm: isAsymmetric,
  instant: isInstant,
  audience: isAudience,
  confirmation: isConfirmation,
  party: isParty,
  stated: (value) => typeof value === 'number' || typeof value === 'string',
  timestamp: (value) => typeof value === 'string' && parseInstant(value) !== null,
  one_time: (value) => value === 'one_time',
  token: (value) => typeof value === 'string',
}
