// MPP: what the policy has to know of it.
import { readHostName, toUrl } from '../compare.ts'
import { instantSeconds, pick, pickText } from '../decode/value.ts'
import { toAddress } from '../policy/assets.ts'
import { reason, type Reason } from '../policy/reasons.ts'
import type { Terms } from '../policy/terms.ts'
import type { ProtocolPolicy, SpendIdentity, Stated } from '../protocol.ts'
import type { MppChallenge, MppFacts } from './facts.ts'
import { listEnds } from './read.ts'
import { isKnown, isOfV2 } from './signed.ts'

/** More offers in one message are left unread. */
const MAX_TERMS = 32

export const policy: ProtocolPolicy<MppFacts> = {
  pricedStages: new Set(['challenge', 'payment']),
  listTerms: ({ layer, facts }) =>
    layer.stage === 'settlement'
      ? []
      : [
          ...facts.challenges
            .slice(0, MAX_TERMS)
            .map((one) => termsOfChallenge(one, layer.stage === 'challenge')),
          ...termsOfPayload(facts),
        ],
  describeSpend,
  judge: ({ layer, facts }) => [
    ...facts.challenges.slice(0, MAX_TERMS).flatMap(judgeKeys),
    ...(layer.stage === 'payment'
      ? [...judgeProof(facts), ...judgeIntent(facts), ...judgeDescriptor(facts), ...judgeRenewal(facts)]
      : []),
  ],
  listHosts: ({ facts }) => facts.challenges.map(({ realm }) => realm),
  listExpected: ({ facts }) => [facts.payloadAt],
  listExpiries: ({ facts }) => [instantSeconds(facts.challenge?.expires ?? null), ...listEnds(facts.payload)],
  needsWindow: () => true,
  limitWindow: (_stated, { maxWindowSeconds }) => maxWindowSeconds,
}

/** The keys that a card is encrypted to are of the realm itself, or of whoever wants the card (draft-card-charge-00, "Encryption Key"). */
function judgeKeys({ realm, request }: MppChallenge): Reason[] {
  const keys = pickText(request, 'methodDetails', 'jwksUri')
  const host = realm && readHostName(realm.value, 'https:')
  if (keys === null || host == null) return []
  const url = toUrl(keys.value)
  return url?.protocol === 'https:' && url.host === host
    ? []
    : [
        reason('BINDING_HOST', keys.at, {
          message: 'The card would be encrypted to keys that are not those of the realm.',
        }),
      ]
}

/**
 * A charge is its challenge. A session is its channel, whose vouchers say what it has come to: what was put in at its opening is
 * counted then, and vouchers count what goes beyond.
 */
function describeSpend({ facts: { challenge, payload } }: Stated<MppFacts>): SpendIdentity {
  const [channel] = payload?.channelIds ?? []
  const challenged = [challenge?.realm?.value ?? '', challenge?.id?.value ?? '']
  if (channel !== undefined || challenge?.intent?.value === 'session') {
    const session = channel === undefined ? challenged : [toAddress(channel.value)]
    return { name: ['mpp', 'session', ...session], isRunning: true, mandate: `mpp ${session.join(' ')}` }
  }
  const splits = challenge?.splits ?? []
  const legs = payload?.legs.slice(1).map(({ to, requested, permitted }) => ({
    recipient: to,
    amount: requested ?? permitted,
  }))
  return {
    ...(challenge?.id !== null && challenge !== null && { name: ['mpp', 'charge', ...challenged] }),
    shares: (splits.length > 0 ? splits : (legs ?? [])).flatMap(({ recipient, amount }) =>
      recipient !== null && amount?.isInteger === true
        ? { payee: recipient.value, amount: amount.value }
        : [],
    ),
  }
}

/** A method that nobody here knows may name its proof in its own way: then nobody here can tell whether there is one. */
function judgeProof({ challenge, payload, proof }: MppFacts): Reason[] {
  if (payload === null || proof !== null || challenge === null || isKnown(challenge)) return []
  return [
    reason('POLICY_INPUT_MISSING', payload.at, {
      message:
        'The payment method is not known here, and none of the members of its payload is a known proof.',
    }),
  ]
}

/** Of what no draft describes, nobody here can tell what it lets be taken besides the amounts that it names. */
function judgeIntent({ challenge, payload }: MppFacts): Reason[] {
  if (challenge === null || payload === null || !challenge.isRequestReadable) return []
  const isPlain = challenge.intent === null || challenge.intent.value === 'charge'
  const isOpaque = payload.gateway !== null && payload.gateway.value === null
  if ((isPlain || isKnown(challenge)) && !isOpaque) return []
  return [
    reason('POLICY_INPUT_MISSING', payload.at, {
      message: isOpaque
        ? 'What is signed does not show the amount that it transfers.'
        : 'The intent of this payment method is not known here: what its payload lets be taken is not told.',
    }),
  ]
}

/** Without its descriptor nobody can tell from a channel who is paid by it, and in which token: the draft's own examples leave it out. */
function judgeDescriptor({ challenge, payload }: MppFacts): Reason[] {
  if (challenge === null || payload === null || challenge.intent?.value !== 'session') return []
  const unsaid = challenge.method?.value === 'tempo' ? listUnsaid(challenge) : []
  if (unsaid.length > 0)
    return [
      reason('POLICY_INPUT_MISSING', challenge.at, {
        message: `The challenge of the session does not say ${unsaid.join(' and ')}: who may take what is in the channel is not told.`,
      }),
    ]
  if (!isOfV2(challenge) || pick(payload.object, 'descriptor') !== null) return []
  return [
    reason('POLICY_INPUT_MISSING', payload.at, {
      message: 'The payload does not describe its channel: who is paid by it and in which token is not told.',
    }),
  ]
}

/** Members of a session that its draft requires (draft-tempo-session-00, "Request Schema"). */
const listUnsaid = ({ recipient, request }: MppChallenge): string[] => [
  ...(recipient === null ? ['its recipient'] : []),
  ...(pickText(request, 'methodDetails', 'escrowContract') === null ? ['its escrowContract'] : []),
]

/** A subscription without an end may be charged again and again. */
function judgeRenewal({ challenge, payloadAt }: MppFacts): Reason[] {
  if (challenge?.intent?.value !== 'subscription') return []
  return pickText(challenge.request, 'subscriptionExpires') === null
    ? [
        reason('OPEN_MANDATE_UNBOUNDED', payloadAt ?? challenge.at, {
          message: 'The subscription has no end: the amount may be taken once in every period.',
        }),
      ]
    : []
}

const isPresent = <T>(one: T | null): one is T => one !== null

/** An offer asks for its price, and for what has to be put in besides. */
function termsOfChallenge(challenge: MppChallenge, isOffer: boolean): Terms {
  const { at, amount, currency, asset, network, recipient, splits, demands, shareRecipients } = challenge
  return {
    at,
    amount,
    isInteger: amount?.isInteger === true,
    currency,
    asset,
    network,
    scheme: null,
    payees: [recipient, ...splits.map((split) => split.recipient), ...shareRecipients].filter(isPresent),
    // Of a credential, the payload says what is put in.
    further: demands.filter(({ isSuggested }) => isOffer || !isSuggested),
  }
}

/** What the payload lets be taken is held against the cap of the token that it takes. */
function termsOfPayload({ payload, challenge }: MppFacts): Terms[] {
  return (payload?.takings ?? []).map(({ amount, token, payee }) => ({
    at: amount.at,
    amount,
    isInteger: amount.isInteger,
    currency: token === null ? (challenge?.currency ?? null) : null,
    asset: token ?? challenge?.asset ?? null,
    network: challenge?.network ?? null,
    scheme: null,
    payees: [payee].filter(isPresent),
  }))
}
