// MPP: what the payload of a credential lets somebody take, whatever its method calls it. Names decide here and not `type`, `action` or
// `method`: whoever leaves those out or lies in them is judged by the amounts all the same.
import { pick, pickList, pickNumeral, pickObject, pickText, type Numeral } from '../decode/value.ts'
import type { Found, Json, JsonObject } from '../ports.ts'
import { readTransaction, type Transaction } from './transaction.ts'

/** An amount that the payload agrees to, and to whom. */
export interface MppTaking {
  /** `voucher`: the total of a channel. `deposit`: what is put into one. `transfer`: what is paid. `permit`: the most that may be drawn. */
  readonly as: 'voucher' | 'deposit' | 'transfer' | 'permit' | 'fee'
  readonly amount: Numeral
  /** Null where the payload leaves it to the challenge. */
  readonly token: Found<string> | null
  readonly payee: Found<string> | null
}

/** The channel as the payload describes it (tempo: `descriptor`; solana: members of the payload; evm: the witness of Permit2). */
export interface MppChannel {
  readonly payer: Found<string> | null
  readonly payee: Found<string> | null
  readonly token: Found<string> | null
  readonly operator: Found<string> | null
  readonly authorizedSigner: Found<string> | null
}

/** EIP-3009 or Permit2 of one amount, of a charge or of the deposit into a channel. */
export interface MppPull {
  readonly at: string
  readonly from: Found<string> | null
  readonly to: Found<string> | null
  readonly amount: Numeral | null
  readonly token: Found<string> | null
  readonly nonce: Found<string> | null
  readonly validAfter: Numeral | null
  readonly validBefore: Numeral | null
  /** Permit2 alone. */
  readonly witness: Found<JsonObject> | null
}

/** One of several transfers under one permit (evm charge). */
export interface MppLeg {
  readonly token: Found<string> | null
  /** The most that the signature lets be drawn. */
  readonly permitted: Numeral | null
  readonly to: Found<string> | null
  readonly requested: Numeral | null
}

export interface MppPayload {
  readonly at: string
  readonly object: Found<JsonObject>
  readonly type: Found<string> | null
  readonly action: Found<string> | null
  /** Identifiers of the channel, wherever the payload repeats it. */
  readonly channelIds: readonly Found<string>[]
  readonly channel: MppChannel
  /** Authorised in total by a voucher, wherever the payload says so. */
  readonly cumulatives: readonly Numeral[]
  /** Said to be put in: `depositAmount`, `additionalDeposit`, `additionalAmount`. */
  readonly deposits: readonly Numeral[]
  readonly voucherExpiresAt: Numeral | null
  /** Signed pulls of one amount: the payment itself, or the deposit; a voucher may carry one as well. */
  readonly pulls: readonly MppPull[]
  readonly legs: readonly MppLeg[]
  /** `permitted` and `transferDetails` have to be as long as each other. */
  readonly hasUnevenLegs: boolean
  readonly gateway: {
    readonly sourceNetwork: Found<string> | null
    readonly destinationNetwork: Found<string> | null
    readonly fees: readonly Numeral[]
    readonly value: Numeral | null
  } | null
  /** A signed transaction that could be read: of an EVM, with its calls. */
  readonly transaction: Found<Transaction> | null
  readonly takings: readonly MppTaking[]
}

/** More transfers than a charge can have (ten splits and the recipient) are left unread; their number is judged. */
const MAX_LEGS = 32
const DEPOSITS = ['depositAmount', 'additionalDeposit', 'additionalAmount']

/** @returns null where there is no payload that is an object */
export function readPayload(found: Found<Json> | null): MppPayload | null {
  const object = pickObject(found)
  if (object === null) return null
  const vouchers = [object, pick(object, 'voucher'), pick(object, 'voucher', 'voucher')]
  const descriptor = pickObject(object, 'descriptor')
  const channel = readChannel(descriptor ?? object)
  const pulls = [object, pickObject(object, 'authorization'), pickObject(object, 'deposit', 'authorization')]
    .map(readPull)
    .filter((pull) => pull !== null)
  const permitted = pickItems(object, 'permit', 'permitted')
  const details = pickItems(object, 'transferDetails')
  const legs = readLegs(permitted, details)
  const cumulatives = vouchers.flatMap((from) => pickNumeral(from, 'cumulativeAmount') ?? [])
  const deposits = DEPOSITS.flatMap((name) => pickNumeral(object, name) ?? [])
  const gateway = readGateway(object)
  const transaction = findTransaction(object)
  return {
    at: object.at,
    object,
    type: pickText(object, 'type'),
    action: pickText(object, 'action'),
    channelIds: [
      ...vouchers.map((from) => pickText(from, 'channelId')),
      ...pulls.map(({ witness }) => pickText(witness, 'channelId')),
    ].filter((id) => id !== null),
    channel,
    cumulatives,
    deposits,
    voucherExpiresAt:
      vouchers.map((from) => pickNumeral(from, 'expiresAt')).find((at) => at !== null) ?? null,
    pulls,
    legs,
    hasUnevenLegs: legs.length > 0 && permitted.length !== details.length,
    gateway,
    transaction,
    takings: listTakings({ channel, cumulatives, deposits, pulls, legs, gateway, transaction }),
  }
}

/** A list, or the one item that stands where a list should. */
function pickItems(from: Found<JsonObject>, ...path: readonly string[]): readonly Found<Json>[] {
  const single = pickObject(from, ...path)
  return single === null ? pickList(from, ...path) : [single]
}

const readChannel = (from: Found<JsonObject>): MppChannel => ({
  payer: pickText(from, 'payer'),
  payee: pickText(from, 'payee'),
  token: pickText(from, 'token') ?? pickText(from, 'mint'),
  operator: pickText(from, 'operator'),
  authorizedSigner: pickText(from, 'authorizedSigner'),
})

function readPull(from: Found<JsonObject> | null): MppPull | null {
  if (from === null) return null
  const permitted = pickObject(from, 'permitted')
  const amount = pickNumeral(permitted, 'amount') ?? pickNumeral(from, 'value')
  const to = pickText(from, 'to')
  if (amount === null && to === null && permitted === null) return null
  return {
    at: from.at,
    from: pickText(from, 'from'),
    to,
    amount,
    token: pickText(permitted, 'token'),
    nonce: pickText(from, 'nonce'),
    validAfter: pickNumeral(from, 'validAfter'),
    validBefore: pickNumeral(from, 'validBefore') ?? pickNumeral(from, 'deadline'),
    witness: pickObject(from, 'witness'),
  }
}

function readLegs(permitted: readonly Found<Json>[], details: readonly Found<Json>[]): MppLeg[] {
  const count = Math.min(MAX_LEGS, Math.max(permitted.length, details.length))
  return Array.from({ length: count }, (_, index) => {
    const permit = permitted[index] ?? null
    const detail = details[index] ?? null
    return {
      token: pickText(permit, 'token'),
      permitted: pickNumeral(permit, 'amount'),
      to: pickText(detail, 'to'),
      requested: pickNumeral(detail, 'requestedAmount'),
    }
  })
}

/** `signature` of a charge, `transaction` of a session. */
function findTransaction(object: Found<JsonObject>): Found<Transaction> | null {
  for (const name of ['transaction', 'signature']) {
    const text = pickText(object, name)
    const value = text === null ? undefined : readTransaction(text.value)
    if (text !== null && value !== undefined) return { value, at: text.at }
  }
  return null
}

/** Circle Gateway (method `usdc`): a fee on top of the amount, both inside what is signed. */
function readGateway(object: Found<JsonObject>): MppPayload['gateway'] {
  const sourceNetwork = pickText(object, 'sourceNetwork')
  const destinationNetwork = pickText(object, 'destinationNetwork')
  if (sourceNetwork === null && destinationNetwork === null) return null
  const authorization = pickObject(object, 'authorization')
  const intent =
    pickObject(authorization, 'transfer', 'burnIntent') ?? pickObject(authorization, 'burnIntent')
  return {
    sourceNetwork,
    destinationNetwork,
    fees: [pickNumeral(object, 'maxFee'), pickNumeral(intent, 'maxFee')].filter((fee) => fee !== null),
    value: pickNumeral(intent, 'spec', 'value'),
  }
}

function listTakings({
  channel,
  cumulatives,
  deposits,
  pulls,
  legs,
  gateway,
  transaction,
}: Pick<
  MppPayload,
  'channel' | 'cumulatives' | 'deposits' | 'pulls' | 'legs' | 'gateway' | 'transaction'
>): MppTaking[] {
  const { payee, token } = channel
  const found: MppTaking[] = []
  const isChannel = cumulatives.length + deposits.length > 0
  for (const amount of cumulatives) found.push({ as: 'voucher', amount, token, payee })
  for (const amount of deposits) found.push({ as: 'deposit', amount, token, payee })
  for (const pull of pulls)
    if (pull.amount !== null)
      found.push({
        as: isChannel ? 'deposit' : 'transfer',
        amount: pull.amount,
        token: pull.token ?? token,
        // A deposit goes to the escrow; who is paid out of it, the channel says.
        payee: isChannel ? (pickText(pull.witness, 'payee') ?? payee) : pull.to,
      })
  found.push(...listPermits(legs))
  if (transaction !== null) found.push(...listCalls(transaction))
  if (gateway !== null && gateway.value !== null) {
    found.push({ as: 'transfer', amount: gateway.value, token: null, payee: null })
    for (const fee of gateway.fees)
      found.push({ as: 'fee', amount: addUp([gateway.value, fee], fee), token: null, payee: null })
  }
  return found
}

/**
 * What all legs of one token come to: whoever submits the permit may draw each of them in full, so that the cap holds for their sum.
 */
function listPermits(legs: readonly MppLeg[]): MppTaking[] {
  const byToken = new Map<string, MppLeg[]>()
  for (const leg of legs) {
    const key = leg.token?.value.toLowerCase() ?? ''
    byToken.set(key, [...(byToken.get(key) ?? []), leg])
  }
  return [...byToken.values()].flatMap((same) => {
    const amounts = same.flatMap(({ permitted, requested }) => permitted ?? requested ?? [])
    const [amount] = amounts
    const [leg] = same
    if (amount === undefined || leg === undefined) return []
    const total = addUp(amounts, amount)
    const payees = same.map(({ to }) => to)
    return [
      { as: 'permit' as const, amount: total, token: leg.token, payee: payees[0] ?? null },
      ...same.slice(1).flatMap(({ to, requested, permitted, token }): MppTaking[] => {
        const own = requested ?? permitted
        return own === null ? [] : [{ as: 'permit', amount: own, token, payee: to }]
      }),
    ]
  })
}

/** Transfers and deposits of a transaction, at the place of the whole. */
const listCalls = ({ value, at }: Found<Transaction>): MppTaking[] =>
  value.calls.flatMap(({ does, to, payee, token, amount }): MppTaking[] =>
    amount === null || does === 'approve' || does === 'other'
      ? []
      : [
          {
            as: does,
            amount: { value: String(amount), at, isInteger: true, isNumber: false },
            token: does === 'transfer' ? { value: to, at } : token === null ? null : { value: token, at },
            payee: payee === null ? null : { value: payee, at },
          },
        ],
  )

/** The sum of several amounts as one, at a place; the first that is no integer where there is one. */
function addUp(amounts: readonly Numeral[], at: Numeral): Numeral {
  const odd = amounts.find(({ isInteger }) => !isInteger)
  if (odd !== undefined) return odd
  const sum = amounts.reduce((total, { value }) => total + BigInt(value), 0n)
  return { value: String(sum), at: at.at, isInteger: true, isNumber: false }
}
