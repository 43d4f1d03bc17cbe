// MPP: what the payload of a credential agrees to, against the challenge that it answers. A voucher signs a channel and a total alone, so
// that payee, token and chain are those of the challenge only where the descriptor says the same.
import { bind, isSameAddress, type Verdict } from '../compare.ts'
import { pick, pickBoolean, pickList, pickNumeral, pickText, type Numeral } from '../decode/value.ts'
import type { Binding, Found } from '../ports.ts'
import { bindTransaction } from './bind-transaction.ts'
import type { MppChallenge, MppFacts } from './facts.ts'
import type { MppLeg, MppPayload, MppPull } from './payload.ts'
import { findUnknown } from './signed.ts'

interface Pair {
  readonly challenge: MppChallenge
  readonly payload: MppPayload
  readonly facts: MppFacts
  readonly isSession: boolean
}

/** Nothing where one of the two is not there: that it lacks is said elsewhere. */
export function bindPayload(facts: MppFacts): Binding[] {
  const { challenge, payload } = facts
  if (challenge === null || payload === null) return []
  // A voucher is one, whatever the intent is called.
  const isSession =
    challenge.intent?.value === 'session' || payload.cumulatives.length + payload.deposits.length > 0
  const pair = { challenge, payload, facts, isSession }
  return [
    ...bindKind(pair),
    ...bindChannel(pair),
    ...payload.pulls.flatMap((pull) => bindPull(pull, pair)),
    ...bindLegs(pair),
    ...bindDeposits(pair),
    ...bindGateway(pair),
    ...bindSource(pair),
    ...bindTransaction(challenge, payload, isSession),
  ]
}

type Statement = Pick<Found<unknown>, 'at'>

const say = (
  kind: Binding['kind'],
  verdict: Verdict,
  one: Statement,
  other: Statement,
  text: string,
): Binding => bind(kind, verdict, one.at, other.at, text)

/** Two statements that have to be the same; nothing where one of them is not made. */
function same(
  kind: Binding['kind'],
  one: Found<string> | null,
  other: Found<string> | null,
  [equal, different]: readonly [string, string],
): Binding[] {
  if (one === null || other === null) return []
  return isSameAddress(one.value, other.value)
    ? [say(kind, 'match', one, other, equal)]
    : [say(kind, 'mismatch', one, other, different)]
}

const PAYEE = [
  'The payload pays the recipient of the challenge.',
  'The payload pays somebody else than the recipient of the challenge.',
] as const
const TOKEN = [
  'The payload pays in the currency of the challenge.',
  'The payload pays in another token than the currency of the challenge.',
] as const
const ESCROW = [
  'The deposit goes to the escrow of the challenge.',
  'The deposit goes to another address than the escrow of the challenge.',
] as const

/** The type and the way of paying are among those that the method and the challenge know. */
function bindKind({ challenge, payload, isSession }: Pair): Binding[] {
  const found: Binding[] = []
  const refuse = (one: Statement, other: Statement, text: string) =>
    found.push(say('constraint', 'mismatch', one, other, text))
  const unknown = findUnknown(challenge, payload)
  if (unknown !== undefined)
    refuse(unknown, challenge.method ?? challenge, 'The payment method has no such type or action.')
  const { type } = payload
  const method = challenge.method?.value
  if (type === null) return found
  for (const [name, offered] of [
    ['credentialTypes', type.value],
    ['supportedModes', { transaction: 'pull', hash: 'push' }[type.value]],
  ] as const) {
    const list = pick(challenge.details, name)
    const accepted = pickList(challenge.details, name).map(({ value }) => value)
    if (list !== null && offered !== undefined && accepted.length > 0 && !accepted.includes(offered))
      refuse(type, list, 'The challenge does not accept a credential of this type.')
  }
  if (isSession) return found
  if (method === 'evm' && challenge.splits.length > 0 && type.value !== 'permit2')
    refuse(type, { at: challenge.splitsAt ?? challenge.at }, 'Only a permit can pay splits.')
  if (method === 'tempo' && type.value === 'proof' && challenge.amount !== null && !isZero(challenge.amount))
    refuse(type, challenge.amount, 'A proof pays nothing, and the challenge asks for an amount.')
  const sponsored = pickBoolean(challenge.details, 'feePayer')
  const isPushed = type.value === 'hash' || type.value === 'signature'
  if (sponsored?.value === true && isPushed && (method === 'solana' || method === 'stellar'))
    refuse(type, sponsored, 'What the server pays the fee of cannot have been sent already.')
  return found
}

const isZero = ({ value }: Numeral) => /^0+$/.test(value)

/** The channel as it is described: payee, token, operator, signer, and its own identifier wherever it is repeated. */
function bindChannel({ challenge, payload, isSession }: Pair): Binding[] {
  const { channel, object } = payload
  const { details } = challenge
  if (!isSession) return []
  return [
    ...same('payee', channel.payee, challenge.recipient, PAYEE),
    ...same('amount', channel.token, challenge.stated, TOKEN),
    ...bindOperator(channel.operator, challenge),
    ...same('constraint', pickText(object, 'authorizedSigner'), channel.authorizedSigner, [
      'The signer of vouchers is the one of the channel.',
      'The signer of vouchers is another than the one of the channel.',
    ]),
    ...bindChannelIds(payload, pickText(details, 'channelId')),
    ...bindSnapshot(challenge),
  ]
}

const NOBODY = /^0x0{40}$/i

/** Whoever operates the channel may settle it: without one in the challenge there is none. */
function bindOperator(operator: Found<string> | null, { details, at }: MppChallenge): Binding[] {
  if (operator === null) return []
  const named = pickText(details, 'operator')
  const isRight = named === null ? NOBODY.test(operator.value) : isSameAddress(operator.value, named.value)
  return [
    say(
      'constraint',
      isRight ? 'match' : 'mismatch',
      operator,
      named ?? { at },
      isRight
        ? 'The operator of the channel is the one of the challenge.'
        : 'The channel has an operator whom the challenge does not name.',
    ),
  ]
}

/** A payload names one channel. The challenge may propose another, which the payer need not take. */
function bindChannelIds({ channelIds }: MppPayload, proposed: Found<string> | null): Binding[] {
  const [own, ...others] = channelIds
  if (own === undefined) return []
  const found = others.flatMap((other) =>
    same('constraint', other, own, [
      'The channel is the same.',
      'The payload names two channels: a voucher is worth something in its own alone.',
    ]),
  )
  if (proposed !== null && !isSameId(own.value, proposed.value))
    found.push(
      say('constraint', 'partial', own, proposed, 'The channel is another than the challenge proposes.'),
    )
  return found
}

const isSameId = (one: string, other: string) =>
  one.startsWith('0x') ? one.toLowerCase() === other.toLowerCase() : one === other

/** A snapshot of a channel says what the challenge says (tempo session, "Session Snapshot"). */
export function bindSnapshot({ details, recipient, stated, network }: MppChallenge): Binding[] {
  const snapshot = pick(details, 'sessionSnapshot')
  if (snapshot === null) return []
  const descriptor = pick(snapshot, 'descriptor')
  const chain = pickNumeral(snapshot, 'chainId')
  return [
    ...same('payee', pickText(descriptor, 'payee'), recipient, PAYEE),
    ...same('amount', pickText(descriptor, 'token'), stated, TOKEN),
    ...same('payee', pickText(snapshot, 'escrow'), pickText(details, 'escrowContract'), ESCROW),
    ...same('constraint', pickText(snapshot, 'channelId'), pickText(details, 'channelId'), [
      'The snapshot is of the channel of the challenge.',
      'The snapshot is of another channel than the challenge names.',
    ]),
    ...(chain === null
      ? []
      : same('offer', { value: `eip155:${chain.value}`, at: chain.at }, network, [
          'The snapshot is of the chain of the challenge.',
          'The snapshot is of another chain than the challenge.',
        ])),
  ]
}

/** EIP-3009 or Permit2: of a charge the payment itself, of a session the deposit. */
function bindPull(pull: MppPull, { challenge, payload, isSession }: Pair): Binding[] {
  const token = same('amount', pull.token, challenge.stated, TOKEN)
  if (isSession) {
    const channelId = payload.channelIds[0] ?? null
    return [
      ...token,
      ...same('payee', pull.to, pickText(challenge.details, 'escrowContract'), ESCROW),
      ...same('payee', pickText(pull.witness, 'payee'), challenge.recipient, PAYEE),
      ...same('constraint', pickText(pull.witness, 'channelId'), channelId, [
        'The deposit is for the channel of the payload.',
        'The deposit is for another channel than the payload names.',
      ]),
      ...['salt', 'authorizedSigner'].flatMap((name) =>
        same('constraint', pickText(pull.witness, name), pickText(payload.object, name), [
          `The ${name} that was signed is the one of the payload.`,
          `The ${name} that was signed is another than the one of the payload.`,
        ]),
      ),
    ]
  }
  const { amount } = challenge
  return [
    ...token,
    ...same('payee', pull.to, challenge.recipient, PAYEE),
    ...(pull.amount === null || amount === null ? [] : [equal(pull.amount, amount)]),
  ]
}

function equal(signed: Numeral, asked: Numeral): Binding {
  const isEqual = signed.isInteger && asked.isInteger && BigInt(signed.value) === BigInt(asked.value)
  return say(
    'amount',
    isEqual ? 'match' : 'mismatch',
    signed,
    asked,
    isEqual
      ? 'The signed amount is the one that was asked for.'
      : 'The signed amount is not the one that was asked for.',
  )
}

/** One permit over several transfers: the first to the recipient, one more for each split, in their order (evm charge). */
function bindLegs({ challenge, payload, isSession }: Pair): Binding[] {
  const { legs, hasUnevenLegs, object } = payload
  // What cannot be read says nothing of splits.
  if (legs.length === 0 || isSession || !challenge.isRequestReadable) return []
  const { splits, amount, splitsAt, at } = challenge
  const found: Binding[] = []
  const other = { at: splitsAt ?? amount?.at ?? at }
  if (hasUnevenLegs)
    found.push(say('constraint', 'mismatch', object, other, 'The permit and its transfers are not as many.'))
  if (legs.length !== splits.length + 1)
    found.push(
      say(
        'constraint',
        'mismatch',
        object,
        other,
        'The transfers are not one for the recipient and one for each split.',
      ),
    )
  legs.forEach((leg, index) => {
    const split = splits[index - 1]
    const due = index === 0 ? remainderOf(challenge) : (split?.amount ?? null)
    found.push(
      ...same('amount', leg.token, challenge.stated, TOKEN),
      ...same('payee', leg.to, index === 0 ? challenge.recipient : (split?.recipient ?? null), PAYEE),
      ...(leg.requested === null || due === null ? [] : [equal(leg.requested, due)]),
      ...bindPermitted(leg),
    )
  })
  return found
}

/** The amount without the splits; null where one of them is no integer. */
function remainderOf({ amount, splits }: MppChallenge): Numeral | null {
  if (amount === null || !amount.isInteger) return amount
  const parts = splits.map((split) => split.amount)
  if (parts.some((part) => part?.isInteger !== true)) return null
  const rest = parts.reduce((left, part) => left - BigInt(part?.value ?? 0), BigInt(amount.value))
  return { ...amount, value: String(rest) }
}

/** The signature covers what may be drawn; what will be is up to whoever submits it. */
function bindPermitted({ permitted, requested }: MppLeg): Binding[] {
  if (permitted?.isInteger !== true || requested?.isInteger !== true) return []
  const [most, drawn] = [BigInt(permitted.value), BigInt(requested.value)]
  if (most === drawn) return []
  return [
    most < drawn
      ? say('amount', 'mismatch', permitted, requested, 'The permit is for less than its transfer.')
      : say('amount', 'partial', permitted, requested, 'The permit is for more than its transfer.'),
  ]
}

/** What is said to be put in, what is signed for that, and the voucher that may not be over it. */
function bindDeposits({ challenge, payload, isSession }: Pair): Binding[] {
  const { deposits, pulls, cumulatives, action } = payload
  if (!isSession) return []
  const [pull] = pulls
  const [deposit = pull?.amount] = deposits
  const found: Binding[] = []
  if (pull !== undefined && pull.amount !== null)
    found.push(...deposits.map((stated) => equal(stated, pull.amount ?? stated)))
  if (action?.value !== 'open' || deposit === null || deposit === undefined) return found
  const floor = pickNumeral(challenge.request, 'minimumDeposit')
  if (floor !== null && isLess(deposit, floor))
    found.push(say('constraint', 'mismatch', deposit, floor, 'The deposit is less than the challenge wants.'))
  for (const cumulative of cumulatives)
    if (isLess(deposit, cumulative))
      found.push(
        say('constraint', 'mismatch', cumulative, deposit, 'The voucher is for more than the deposit.'),
      )
  return found
}

const isLess = (one: Numeral, other: Numeral): boolean =>
  one.isInteger && other.isInteger && BigInt(one.value) < BigInt(other.value)

/** Circle Gateway (usdc charge): route and fee are among those of the challenge. */
function bindGateway({ challenge, payload: { gateway } }: Pair): Binding[] {
  const terms = pick(challenge.details, 'gateway')
  if (gateway === null || terms === null) return []
  const { sourceNetwork, destinationNetwork, fees, value } = gateway
  const sources = pickList(terms, 'acceptedSources').map((source) => source.value)
  const cap = pickNumeral(terms, 'maxFee')
  const found = same('offer', destinationNetwork, pickText(terms, 'destinationNetwork'), [
    'The payment arrives on the network of the challenge.',
    'The payment arrives on another network than the challenge wants.',
  ])
  if (sourceNetwork !== null && sources.length > 0 && !sources.includes(sourceNetwork.value))
    found.push(
      say(
        'offer',
        'mismatch',
        sourceNetwork,
        terms,
        'The payment leaves from a network that is not accepted.',
      ),
    )
  if (value !== null && challenge.amount !== null) found.push(equal(value, challenge.amount))
  for (const fee of fees)
    if (cap !== null && isLess(cap, fee))
      found.push(say('amount', 'mismatch', fee, cap, 'The fee is over the one of the challenge.'))
  return found
}

/** A DID of did:pkh and an account of CAIP-10 name the chain; a proof binds to it, elsewhere it should be the one that is paid on. */
function bindSource({ challenge, payload, facts: { source } }: Pair): Binding[] {
  const chain = source === null ? undefined : /^(?:did:pkh:)?(eip155:\d{1,20}):0x/i.exec(source.value)?.[1]
  const { network, isNetworkAssumed } = challenge
  if (source === null || chain === undefined || network === null || payload.gateway !== null) return []
  if (!network.value.startsWith('eip155:') || challenge.asset === null) return []
  if (chain === network.value) return [say('offer', 'match', source, network, 'The payer is on the chain.')]
  const isProof = payload.type?.value === 'proof' && !isNetworkAssumed
  return [
    say(
      'offer',
      isProof ? 'mismatch' : 'partial',
      source,
      network,
      'The payer is named on another chain than the one that is paid on.',
    ),
  ]
}
