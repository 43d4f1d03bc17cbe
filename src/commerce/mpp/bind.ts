// MPP: the realm against the target, the digest against the body, the splits against the amount.
import { bind, compareHosts, readHostName } from '../compare.ts'
import { pickList, pickNumeral } from '../decode/value.ts'
import type { Binding, Message } from '../ports.ts'
import type { Stated } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import { bindDigest } from '../wire/bind.ts'
import { readDigestText } from '../wire/http.ts'
import { bindPayload, bindSnapshot } from './bind-payload.ts'
import type { MppChallenge, MppFacts } from './facts.ts'

// A server that offers more ways to pay than this has its first ones read.
const MAX_CHALLENGES = 32

/** Each challenge against the target, the body and itself. */
export const bindMpp = ({ facts, reading }: Stated<MppFacts>): Binding[] =>
  facts.challenges
    .slice(0, MAX_CHALLENGES)
    .flatMap((challenge) => [
      ...bindRealm(challenge, reading.message),
      ...bindChallengeDigest(challenge, reading),
      ...bindSplits(challenge),
      ...bindShares(challenge),
      ...bindInvoices(challenge),
      ...(facts.stage === 'challenge' ? bindSnapshot(challenge) : []),
    ])
    .concat(bindPayload(facts))

function bindRealm({ realm }: MppChallenge, message: Message): Binding[] {
  const target = message.target.url
  if (realm === null || target === undefined) return []
  const host = readHostName(realm.value, target.protocol)
  if (host === undefined)
    return [
      bind(
        'host',
        'unverifiable',
        realm.at,
        '/target',
        'The realm is a name, not a host: nothing to compare.',
      ),
    ]
  const verdict = compareHosts(target, host)
  return [
    bind(
      'host',
      verdict,
      realm.at,
      '/target',
      verdict === 'match'
        ? 'The realm is the host of the target.'
        : verdict === 'partial'
          ? 'The realm is wider than the host of the target, or another port of it.'
          : 'The challenge was made for another host than the target.',
    ),
  ]
}

function bindChallengeDigest({ digest }: MppChallenge, reading: Reading): Binding[] {
  if (digest === null) return []
  const parsed = readDigestText(digest.value)
  if (parsed === undefined)
    return [bind('digest', 'mismatch', digest.at, '/body', 'The digest of the challenge cannot be read.')]
  return parsed.map(({ algorithm, value }) => bindDigest(reading, algorithm, value, digest.at))
}

/** The invoice is what is paid: for more than is stated it is denied, for less somebody has to look. */
function bindInvoices({ invoices, amount, request }: MppChallenge): Binding[] {
  const pairs = [
    [invoices.charge, amount],
    [invoices.deposit, pickNumeral(request, 'depositAmount')],
  ] as const
  return pairs.flatMap(([invoice, stated]) => {
    if (invoice === null || stated?.isInteger !== true) return []
    const [paid, told] = [BigInt(invoice.value), BigInt(stated.value)]
    const verdict = paid === told ? 'match' : paid > told ? 'mismatch' : 'partial'
    return [
      bind(
        'amount',
        verdict,
        invoice.at,
        stated.at,
        verdict === 'match'
          ? 'The invoice is for the amount that is stated.'
          : 'The invoice is for another amount than is stated.',
      ),
    ]
  })
}

const ALL_BPS = 10_000n

/** Shares of a channel in hundredths of a percent: each more than nothing, all of them no more than everything (solana session). */
function bindShares({ details, amount, at }: MppChallenge): Binding[] {
  const shares = pickList(details, 'distributionSplits')
  if (shares.length === 0) return []
  const parts = shares.map((share) => pickNumeral(share, 'shareBps'))
  const sum = parts.reduce((total, part) => total + (part?.isInteger === true ? BigInt(part.value) : 0n), 0n)
  const isRight = parts.every((part) => part?.isInteger === true && BigInt(part.value) > 0n) && sum <= ALL_BPS
  const [first] = shares
  return [
    bind(
      'constraint',
      isRight ? 'match' : 'mismatch',
      first?.at ?? at,
      amount?.at ?? at,
      isRight ? 'The shares are parts of the whole.' : 'The shares are no parts of the whole.',
    ),
  ]
}

const MAX_SPLITS = 10

function bindSplits({ splits, splitsAt, amount }: MppChallenge): Binding[] {
  if (splitsAt === null || amount === null) return []
  const result = (verdict: Binding['verdict'], text: string) =>
    bind('constraint', verdict, splitsAt, amount.at, text)
  if (splits.length > MAX_SPLITS) return [result('mismatch', `More than ${MAX_SPLITS} splits.`)]
  const shares = splits.flatMap((split) =>
    split.amount?.isInteger === true ? BigInt(split.amount.value) : [],
  )
  if (!amount.isInteger || shares.length < splits.length)
    return [result('mismatch', 'A split or the amount is no integer of the smallest unit.')]
  const sum = shares.reduce((total, share) => total + share, 0n)
  return sum < BigInt(amount.value)
    ? [result('match', 'The splits leave something of the amount to the recipient.')]
    : [result('mismatch', 'The splits take all of the amount or more.')]
}
