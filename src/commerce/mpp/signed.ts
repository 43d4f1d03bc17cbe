// MPP: which kinds of signed-members.ts a credential holds, by method, intent, action and type of its payload.
import { isObject, member, pick, pickList, pickObject } from '../decode/value.ts'
import type { Found, Json, JsonObject, Place } from '../ports.ts'
import type { Stated } from '../protocol.ts'
import type { SignedKind, SignedStatement } from '../signed-members.ts'
import type { MppChallenge, MppFacts } from './facts.ts'
import type { MppPayload } from './payload.ts'

/** Types of payload by method and intent. Methods that are not named have types of their own. */
const TYPES: Readonly<Record<string, Readonly<Record<string, SignedKind>>>> = {
  'tempo charge': { transaction: 'mpp-signature', hash: 'mpp-hash', proof: 'mpp-signature' },
  'tempo subscription': { keyAuthorization: 'mpp-signature' },
  'evm charge': {
    permit2: 'mpp-permit2',
    authorization: 'mpp-authorization',
    transaction: 'mpp-signature',
    hash: 'mpp-hash',
  },
  'hedera charge': { hash: 'mpp-transaction-id', transaction: 'mpp-transaction' },
  'solana charge': { transaction: 'mpp-transaction', signature: 'mpp-signature', bundle: 'mpp-proof' },
  'stellar charge': { transaction: 'mpp-transaction', hash: 'mpp-hash' },
  'nearintents charge': { hash: 'mpp-hash' },
  'usdc charge': {
    authorization: 'mpp-authorization',
    transaction: 'mpp-transaction',
    transfer: 'mpp-gateway',
  },
}

/** Methods whose payload has no type. */
const UNTYPED: Readonly<Record<string, SignedKind>> = {
  'lightning charge': 'mpp-preimage',
  'card charge': 'mpp-card',
  'stripe charge': 'mpp-shared-token',
  'stripe subscription': 'mpp-payment-method',
}

/** Actions of a session by method; those of other methods are their own. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  tempo: ['open', 'topUp', 'voucher', 'close'],
  evm: ['open', 'topUp', 'voucher', 'close'],
  hedera: ['open', 'topUp', 'voucher', 'close'],
  solana: ['open', 'topUp', 'voucher', 'use', 'close'],
  lightning: ['open', 'topUp', 'bearer', 'close'],
}

/** Whether the specification of the method has no such type or action. @returns undefined where it has, or where nobody knows */
export function findUnknown(challenge: MppChallenge, payload: MppPayload): Found<string> | undefined {
  const { type, action } = payload
  const method = challenge.method?.value ?? ''
  const intent = challenge.intent?.value ?? ''
  if (intent === 'session') {
    const actions = Object.hasOwn(ACTIONS, method) ? ACTIONS[method] : undefined
    return action !== null && actions !== undefined && !actions.includes(action.value) ? action : undefined
  }
  const types = typesOf(`${method} ${intent}`)
  return type !== null && types !== undefined && !Object.hasOwn(types, type.value) ? type : undefined
}

const typesOf = (name: string) => (Object.hasOwn(TYPES, name) ? TYPES[name] : undefined)

/** A challenge is signed by nobody who pays, a receipt neither. */
export function listSignedOfMpp({ facts, layer: { document } }: Stated<MppFacts>): SignedStatement[] {
  if (facts.stage !== 'payment' || document === undefined) return []
  // Nothing is signed by what is empty, and nothing paid.
  if (isEmpty(document, 'challenge') && isEmpty(document, 'payload')) return []
  if (facts.isLegacy) return [of('mpp-legacy', document), ...proofOf(facts)]
  const { challenge, payload } = facts
  const echoed = pickObject(document, 'challenge')
  return [
    of('mpp-credential', document),
    // Examples write `{"...": "echoed challenge"}`: nothing is paid by what names no amount.
    ...(echoed === null || Object.hasOwn(echoed.value, '...') ? [] : [of('mpp-challenge', echoed)]),
    ...(challenge === null || payload === null ? [] : listPayload(challenge, payload, facts, document)),
  ]
}

const isEmpty = (document: Found<JsonObject>, name: string): boolean => {
  const value = member(document.value, name)
  return value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0)
}

const of = (kind: SignedKind, { value, at }: { value: Json; at: Place }): SignedStatement => ({
  kind,
  value,
  at,
})

function listPayload(
  challenge: MppChallenge,
  payload: MppPayload,
  facts: MppFacts,
  document: Found<JsonObject>,
): SignedStatement[] {
  const method = challenge.method?.value ?? ''
  const intent = challenge.intent?.value ?? ''
  if (intent === 'session') {
    const found = listSession(method, challenge, payload)
    const needsSource = method === 'evm' && payload.type?.value === 'hash'
    return [...(found ?? proofOf(facts)), ...(needsSource ? [of('mpp-source', document)] : [])]
  }
  const { object, type } = payload
  const name = `${method} ${intent}`
  const untyped = Object.hasOwn(UNTYPED, name) ? UNTYPED[name] : undefined
  if (untyped !== undefined) return [of(untyped, object)]
  const kind = type === null ? guessKind(object, name) : kindOf(name, type.value)
  const needsSource = kind !== undefined && method === 'tempo' && type?.value === 'proof'
  return [
    ...(kind === undefined || kind === 'mpp-proof' ? proofOf(facts) : [of(kind, object)]),
    ...(kind === 'mpp-permit2' ? listLegs(object) : []),
    ...(needsSource ? [of('mpp-source', document)] : []),
  ]
}

const kindOf = (name: string, type: string): SignedKind | undefined => {
  const types = typesOf(name)
  return types !== undefined && Object.hasOwn(types, type) ? types[type] : undefined
}

/** Without a type, the members tell: what leaves it out is held to the same. */
function guessKind(object: Found<JsonObject>, name: string): SignedKind | undefined {
  if (typesOf(name) === undefined) return undefined
  if (pick(object, 'permit') !== null) return 'mpp-permit2'
  if (pick(object, 'value') !== null || pick(object, 'validBefore') !== null) return 'mpp-authorization'
  return undefined
}

const listLegs = (object: Found<JsonObject>): SignedStatement[] => [
  ...atLeastOne(object, 'mpp-permitted', 'permit', 'permitted'),
  ...atLeastOne(object, 'mpp-transfer', 'transferDetails'),
]

function atLeastOne(object: Found<JsonObject>, kind: SignedKind, ...path: string[]): SignedStatement[] {
  const items = pickList(object, ...path)
  return items.length > 0
    ? items.map((item) => of(kind, item))
    : [{ kind, value: undefined, at: `${object.at}/${path.join('/')}/0` }]
}

/** The member that proves it, whatever the method calls it; what nobody knows the method of may have another. */
function proofOf({ proof, payload, challenge, payloadAt }: MppFacts): SignedStatement[] {
  if (payload === null) return []
  const at = payloadAt ?? payload.at
  const list = pickList(payload.object, 'transactions')
  if (list.length > 0)
    return list.map((item) => ({ kind: 'mpp-proof', value: { proof: item.value }, at: item.at }))
  if (proof !== null) return [{ kind: 'mpp-proof', value: { proof: textAt(payload, proof.at) }, at }]
  return isKnown(challenge) ? [{ kind: 'mpp-proof', value: {}, at }] : []
}

/** Whether a draft says what a payload of this method and intent has to hold. */
export function isKnown(challenge: MppChallenge | null): boolean {
  const method = challenge?.method?.value ?? ''
  const name = `${method} ${challenge?.intent?.value ?? ''}`
  return (
    Object.hasOwn(TYPES, name) ||
    Object.hasOwn(UNTYPED, name) ||
    (challenge?.intent?.value === 'session' && Object.hasOwn(ACTIONS, method))
  )
}

const textAt = ({ object }: MppPayload, at: Place): Json =>
  at
    .slice(object.at.length + 1)
    .split('/')
    .reduce<Json>((inner, name) => member(inner, name) ?? null, object.value)

/** @returns undefined where the method is not known */
function listSession(
  method: string,
  challenge: MppChallenge,
  payload: MppPayload,
): SignedStatement[] | undefined {
  if (!Object.hasOwn(ACTIONS, method)) return undefined
  const { object, action } = payload
  if (action === null) return [of('mpp-session', object)]
  if (method === 'solana') return listSolana(object, action.value)
  if (method === 'lightning') {
    if (action.value === 'open') return [of('mpp-lightning-open', object)]
    return [of(action.value === 'topUp' ? 'mpp-lightning-top-up' : 'mpp-lightning-bearer', object)]
  }
  return listChannel(method, action.value, challenge, payload)
}

/** tempo, evm and hedera: vouchers of EIP-712 over a channel with a deposit. */
function listChannel(
  method: string,
  action: string,
  challenge: MppChallenge,
  { object, type }: MppPayload,
): SignedStatement[] {
  const descriptor = pick(object, 'descriptor')
  const isV2 = descriptor !== null || isOfV2(challenge)
  const described = descriptor === null ? [] : [of('mpp-descriptor', descriptor)]
  const voucher = of(isV2 ? 'mpp-voucher-v2' : 'mpp-voucher', object)
  const deposit = pickObject(object, 'deposit')
  const pull = method === 'evm' ? pullKind(object, type?.value) : undefined
  switch (action) {
    case 'open':
      if (pull !== undefined) return [of('mpp-open-signed', object), of(pull, object)]
      return [voucher, ...described, of(openKind(method), object)]
    case 'topUp':
      return [of('mpp-top-up', object), ...described, of(pull ?? topUpKind(method), object)]
    default:
      return [
        voucher,
        ...described,
        ...(deposit === null || method !== 'evm'
          ? []
          : [of(pullKind(deposit, typeOf(deposit)) ?? 'mpp-deposit-authorization', deposit)]),
      ]
  }
}

/** Whether the channel is one that a payload has to describe (tempo session, "Protocol Versions"). */
export const isOfV2 = ({ method, details }: MppChallenge): boolean =>
  method?.value === 'tempo' && pick(details, 'sessionProtocol')?.value === 'v2'

const typeOf = (from: Found<JsonObject>): string | undefined => {
  const type = member(from.value, 'type')
  return typeof type === 'string' ? type : undefined
}

/** Where the server draws the deposit itself. */
function pullKind(from: Found<JsonObject>, type: string | undefined): SignedKind | undefined {
  if (type === 'permit2') return 'mpp-deposit-permit2'
  if (type === 'authorization') return 'mpp-deposit-authorization'
  if (pickObject(from, 'authorization', 'permitted') !== null) return 'mpp-deposit-permit2'
  return pickObject(from, 'authorization') === null ? undefined : 'mpp-deposit-authorization'
}

const openKind = (method: string): SignedKind =>
  method === 'tempo' ? 'mpp-transaction' : method === 'evm' ? 'mpp-open-hash' : 'mpp-open-broadcast'

const topUpKind = (method: string): SignedKind =>
  method === 'tempo' ? 'mpp-transaction' : method === 'evm' ? 'mpp-hash' : 'mpp-open-broadcast'

function listSolana(object: Found<JsonObject>, action: string): SignedStatement[] {
  if (action === 'open') return [of('mpp-solana-open', object)]
  if (action === 'topUp') return [of('mpp-solana-top-up', object)]
  const signed = pick(object, 'voucher')
  if (action === 'use' || (action === 'close' && signed === null)) return [of('mpp-solana-bearer', object)]
  const at = `${object.at}/voucher`
  // The signed voucher wraps its data; some write both into one object.
  const data = pick(signed, 'voucher')
  return [
    of('mpp-channel', object),
    { kind: 'mpp-solana-voucher', value: data?.value ?? signed?.value, at: data?.at ?? at },
    { kind: 'mpp-solana-signed', value: signed?.value, at },
  ]
}
