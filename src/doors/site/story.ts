// What happened, told from a receipt alone: the facts that the gateway signed, in the order in which they came about.
import { formatAtomic } from '../../../schemas/money.ts'
import { createNetworks, KNOWN_CHAIN_IDS } from '../../core/networks.ts'
import { isObject } from '../../lib/json.ts'

type Json = Readonly<Record<string, unknown>>

/** texts/receipt.ts has the words of each. */
export type EventName =
  | 'asked'
  | 'allowed'
  | 'paid'
  | 'settled'
  | 'answered'
  | 'withheld'
  | 'unanswered'
  | 'charged'
  | 'replayed'
  | 'refunded'
  | 'paid_out'
  | 'decided'
  | 'signed'
  | 'withdrawn'
  | 'superseded'
  | 'renewed'

export interface StoryEvent {
  readonly event: EventName
  /** RFC 3339; undefined where the receipt does not say it. */
  readonly at?: string
  readonly is: 'done' | 'waiting' | 'failed'
  /** Ids, digests, addresses and amounts, by their names in the receipt. */
  readonly facts: Readonly<Record<string, string>>
}

export interface ReceiptStory {
  readonly about: 'payment' | 'refund' | 'payout' | 'call' | 'attempt' | 'replay' | 'decision' | 'other'
  /** `0.001 USDC`, `1 credit`; empty where no amount is named. */
  readonly amount: string
  readonly unit: 'USDC' | 'credit' | 'atomic' | ''
  readonly events: readonly StoryEvent[]
}

export interface ToldReceipt {
  readonly claims: Json
  readonly status: 'valid' | 'withdrawn' | 'superseded'
  readonly replaced_by: string | null
  readonly revoked_key: { readonly kid: string; readonly revoked_at: string; readonly reason: string } | null
}

/** @returns the story; a receipt of a form that is not known here is told by its signature alone */
export function storyOf(receipt: ToldReceipt): ReceiptStory {
  const { claims } = receipt
  const told = TELLERS.find(({ isItsKind }) => isItsKind(claims))?.tell(claims)
  const { about = 'other', amount = '', unit = '', events = [] } = told ?? {}
  return { about, amount, unit, events: [...events, signed(claims), ...standing(receipt)] }
}

interface Teller {
  isItsKind(claims: Json): boolean
  tell(claims: Json): ReceiptStory
}

const TELLERS: readonly Teller[] = [
  {
    isItsKind: ({ kind }) => kind === 'payment',
    tell: (claims) => ({
      about: 'payment',
      ...moneyOf(claims),
      events: [
        done('asked', pick(claims, ['tool', 'method', 'resource', 'request_digest'])),
        done('paid', { ...amountFact(claims), ...pick(claims, ['payer', 'pay_to', 'network', 'asset']) }),
        done('settled', pick(claims, ['transaction', 'upstream', 'claim_id'])),
        ...(text(claims['result_sha256']) === undefined
          ? []
          : [done('answered', pick(claims, ['result_sha256']))]),
      ],
    }),
  },
  {
    isItsKind: ({ kind }) => kind === 'refund',
    tell: (claims) => ({
      about: 'refund',
      ...moneyOf(claims),
      events: [
        done(
          'refunded',
          pick(claims, [
            'from',
            'payer',
            'network',
            'transaction',
            'claim_id',
            'refund_id',
            'credits_taken_back',
          ]),
        ),
      ],
    }),
  },
  {
    isItsKind: ({ kind }) => kind === 'payout',
    tell: (claims) => ({
      about: 'payout',
      ...moneyOf(claims),
      events: [
        done(
          'paid_out',
          pick(claims, ['seller', 'from', 'to', 'network', 'transaction', 'payout_id', 'batch_id']),
        ),
      ],
    }),
  },
  {
    isItsKind: ({ action }) => action === 'egress.reconcile',
    tell: (claims) => ({
      about: 'decision',
      ...creditsOf(claims['refunded']),
      events: [
        { ...done('asked', pickRequest(claims)), ...atOf(claims, 'created_at') },
        {
          ...done('decided', pick(claims, ['decision', 'reason', 'decided_by', 'amends'])),
          ...atOf(claims, 'decided_at'),
        },
      ],
    }),
  },
  {
    isItsKind: ({ action }) => action === 'call',
    tell: (claims) => ({
      about: 'call',
      ...creditsOf(claims['charge']),
      events: [
        { ...done('asked', pick(claims, ['tool', 'request_digest'])), ...atOf(claims, 'created_at') },
        { ...done('answered', pick(claims, ['result_sha256'])), ...atOf(claims, 'finished_at') },
        done('charged', pick(claims, ['transaction_id'])),
      ],
    }),
  },
  {
    isItsKind: ({ action, request }) => typeof action === 'string' && isObject(request),
    tell: (claims) => ({
      about: claims['replayed'] === true ? 'replay' : 'attempt',
      ...creditsOf(claims['charge']),
      events: [
        { ...done('asked', pickRequest(claims)), ...atOf(claims, 'created_at') },
        done('allowed', pick(claims, ['permit_id', 'capability_id', 'credential_id', 'credential_version'])),
        { ...outcomeOf(claims), ...atOf(claims, 'finished_at') },
        claims['replayed'] === true
          ? { ...done('replayed', pick(claims, ['replay_of'])), ...atOf(claims, 'replayed_at') }
          : done('charged', pick(claims, ['attempt_id'])),
      ].filter(({ event, facts }) => event !== 'allowed' || Object.keys(facts).length > 0),
    }),
  },
]

const done = (event: EventName, facts: StoryEvent['facts']): StoryEvent => ({ event, is: 'done', facts })

function signed(claims: Json): StoryEvent {
  const { iat } = claims
  const at =
    typeof iat === 'number' && Math.abs(iat) < 8.64e12 ? new Date(iat * 1000).toISOString() : undefined
  const precise = text(claims['issued_at']) ?? at
  return { ...done('signed', pick(claims, ['iss'])), ...(precise !== undefined && { at: precise }) }
}

function standing({ status, replaced_by: replacedBy, revoked_key: revoked }: ToldReceipt): StoryEvent[] {
  return [
    ...(status === 'withdrawn' ? [{ event: 'withdrawn', is: 'failed', facts: {} } as const] : []),
    ...(status === 'superseded'
      ? [{ event: 'superseded', is: 'waiting', facts: { replaced_by: replacedBy ?? '' } } as const]
      : []),
    ...(revoked
      ? [
          {
            event: 'renewed',
            is: 'waiting',
            at: revoked.revoked_at,
            facts: { kid: revoked.kid, reason: revoked.reason },
          } as const,
        ]
      : []),
  ]
}

/** How the request of an attempt ended: answered, answered and withheld, or nobody knows. */
function outcomeOf(claims: Json): StoryEvent {
  const response = isObject(claims['response']) ? claims['response'] : {}
  const facts = {
    ...pick(response, ['status', 'leak_gate']),
    ...pick(claims, ['outcome']),
    ...digestOf(response),
  }
  if (claims['outcome'] === 'delivered') return done('answered', facts)
  const isAmbiguous = claims['state'] === 'ambiguous'
  return { event: isAmbiguous ? 'unanswered' : 'withheld', is: isAmbiguous ? 'waiting' : 'failed', facts }
}

const digestOf = ({ digest }: Json) => (typeof digest === 'string' ? { response_digest: digest } : {})

function pickRequest(claims: Json): Record<string, string> {
  const request = isObject(claims['request']) ? claims['request'] : {}
  const { digest } = request
  return {
    ...pick(claims, ['action']),
    ...pick(request, ['method', 'host']),
    ...(typeof digest === 'string' && { request_digest: digest }),
  }
}

/** Members that are texts or numbers; others are left out. */
function pick(claims: Json, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = text(claims[name])
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
}

const text = (value: unknown): string | undefined =>
  typeof value === 'number' || (typeof value === 'string' && value !== '') ? String(value) : undefined

function atOf({ times }: Json, name: string): { at?: string } {
  const at = isObject(times) ? text(times[name]) : undefined
  return at === undefined ? {} : { at }
}

/** `0.001 USDC` */
function amountFact(claims: Json): Record<string, string> {
  const { amount, unit } = moneyOf(claims)
  return unit === 'USDC' ? { amount: `${amount} ${unit}` } : {}
}

const pinned = createNetworks(KNOWN_CHAIN_IDS)

/** `Base (eip155:8453)`; the CAIP-2 id alone of a network that nobody here knows. */
export function nameNetwork(network: string): string {
  const known = pinned.find(network)
  return known ? `${known.name} (${network})` : network
}

/** Atomic units are read as USDC only where the asset is the pinned one of its network. */
export const isUsdc = (network: string, asset: string): boolean =>
  pinned.find(network)?.asset.address.toLowerCase() === asset.toLowerCase()

function moneyOf({ amount, asset, network }: Json): Pick<ReceiptStory, 'amount' | 'unit'> {
  if (typeof amount !== 'string' || !/^\d{1,78}$/.test(amount)) return { amount: '', unit: '' }
  if (!isUsdc(String(network), String(asset))) return { amount, unit: 'atomic' }
  return { amount: formatAtomic(BigInt(amount)).replace(/\.?0+$/, ''), unit: 'USDC' }
}

function creditsOf(charge: unknown): Pick<ReceiptStory, 'amount' | 'unit'> {
  const amount: unknown = isObject(charge) ? charge['amount'] : undefined
  return typeof amount === 'number' ? { amount: String(amount), unit: 'credit' } : { amount: '', unit: '' }
}
