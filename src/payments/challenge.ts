// The 402: what must be paid, in the words of v2 and of v1. What does not change from call to call is put together once for
// each (tool, resource, price, networks), and signed once a second: an offer says nothing finer than that. Only a secret is
// of one challenge alone: who pays sends it back, and nobody else can say it.
import { GatewayError } from '../core/errors.ts'
import type {
  PaymentRequired,
  PaymentRequirements,
  ResourceInfo,
  SettleResponse,
} from '../../schemas/x402.ts'
import { barest, chooseWording, isHttp, type Wording } from './wording.ts'
import { ANY_QUOTE_ROOM, MAX_BOTH_CHARS, MAX_BRIEF_QUOTE_CHARS, MIN_QUOTE_ROOM } from './head-size.ts'
import { OFFER_RECEIPT, type Offers } from './offers.ts'
import type { Router, UpstreamState } from './ports.ts'
import type { Networks, PaymentNetwork } from '../core/networks.ts'
import type { Asking, Challenge, PaidCall } from '../core/charging.ts'
import { askingOf } from './asking.ts'
import { toRequirements } from './requirements.ts'
import { CHALLENGE_CHARACTERS, type Secrets } from './secrets.ts'

/** Enough for every paid route and its variants; resources with a parameter in the path must not fill the memory. */
const MAX_REMEMBERED = 256

export interface ChallengeParts {
  readonly networks: Networks
  readonly payTo: string | undefined
  readonly offers: Offers
  readonly secrets: Pick<Secrets, 'mint'>
  /** The router, where one is given: a network that no live facilitator takes is not asked for. */
  readonly router?: Pick<Router, 'states' | 'routes'> | undefined
  /** Test money is all there is. */
  readonly isSandbox: boolean
  readonly now: () => number
}

type Asked = Pick<PaidCall, 'tool' | 'terms' | 'resource'>

export interface Challenges {
  /** @throws {GatewayError} payments_unavailable */
  accepts(call: Asked): readonly PaymentRequirements[]
  /** Extensions as advertised, without what is signed. */
  extensions(call: Asked): Readonly<Record<string, unknown>>
  /**
   * @param error `payment_required` or the x402 reason why what was presented is not enough
   * @throws {GatewayError} payments_unavailable, quote_invalid
   */
  challenge(call: Asked & Pick<PaidCall, 'quote'>, error?: string): Challenge
}

const UNPAID = 'Payment required'
/** Filler that is as long as the random part that takes its place. */
const PLACEHOLDER = '~'.repeat(CHALLENGE_CHARACTERS)

interface Remembered {
  readonly resource: ResourceInfo
  readonly asking: Asking
  readonly wording: Wording
  second: number
  accepts: readonly PaymentRequirements[]
  acceptsV1: Challenge['acceptsV1']
  required: (challenge: string) => PaymentRequired
  /** The challenge without offers and catalogue words, for an answer whose head has little room left for it. */
  brief: (challenge: string) => PaymentRequired
  /** JSON text before and after the random part, and base64 of the whole. */
  json: readonly [string, string]
  header: (challenge: string) => string
  /** Characters that `header` leaves to a quote. */
  quoteRoom: number
}

export function createChallenges(parts: ChallengeParts): Challenges {
  const { payTo, offers, secrets, now } = parts
  const remembered = new Map<string, Remembered>()

  function remember(call: Asked): Remembered {
    const { tool, terms, resource } = call
    const job = terms.shown?.key ?? ''
    const room = terms.quote === undefined ? 'alone' : 'quoted'
    const key = `${tool.name} ${terms.amountAtomic} ${terms.networks.join()} ${resource.method} ${resource.url} ${room} ${job}`
    const second = Math.floor(now() / 1000)
    const known = remembered.get(key)
    if (known?.second === second) return known
    const fresh = build(call, second, known)
    if (!known && remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!)
    remembered.set(key, fresh)
    return fresh
  }

  function build(call: Asked, second: number, known: Remembered | undefined): Remembered {
    const networks = payableNetworks(call)
    const accepts = networks.map((network) =>
      toRequirements({ network, amountAtomic: call.terms.amountAtomic, payTo: payTo! }),
    )
    const resource: ResourceInfo = known?.resource ?? {
      url: call.resource.url,
      description: describe(call),
      mimeType: 'application/json',
    }
    const worded = ({ extensions, isTerse, offered }: Wording): PaymentRequired => {
      const told = { offers: accepts.slice(0, offered), isTerse, challenge: PLACEHOLDER }
      return {
        x402Version: 2,
        error: UNPAID,
        resource,
        accepts,
        extensions: {
          ...extensions,
          [OFFER_RECEIPT]: offers.advertise(resource.url, told, second * 1000),
        },
      }
    }
    // A network more or less, and what was chosen for the others may not fit.
    const isAsBefore = known?.accepts.length === accepts.length
    const wording = isAsBefore ? known.wording : chooseWording(call, accepts.length, worded)
    const asking = askingOf(call, networks, parts.isSandbox)
    // A payment sends most of a challenge back, but not this.
    const template = isHttp(call) ? worded(wording) : { ...worded(wording), error: asking.sentence }
    const text = JSON.stringify(template)
    // The last one: a buyer's URL could hold it too.
    const at = text.lastIndexOf(PLACEHOLDER)
    const forms = around(text.slice(0, at), text.slice(at + PLACEHOLDER.length))
    const brief = worded(barest)
    const acceptsV1 = networks.flatMap((network, index) => v1Of(call, network, accepts[index]!))
    return {
      resource,
      asking,
      wording,
      second,
      accepts,
      acceptsV1,
      required: (challenge) => withChallenge(template, challenge),
      brief: (challenge) => withChallenge(brief, challenge),
      ...forms,
      quoteRoom: isHttp(call) ? MAX_BOTH_CHARS - forms.header(PLACEHOLDER).length : ANY_QUOTE_ROOM,
    }
  }

  /** @throws {GatewayError} payments_unavailable */
  function payableNetworks({ terms }: Asked): PaymentNetwork[] {
    if (payTo === undefined) throw unavailable('nobody is set up to be paid (GATEWAY_PAY_TO)')
    const configured = terms.networks.flatMap((network) => parts.networks.find(network) ?? [])
    if (configured.length === 0) throw unavailable(`no chain is set up for ${terms.networks.join(', ')}`)
    const known = configured.filter(({ network }) => parts.networks.hindrance(network) === undefined)
    if (known.length === 0)
      throw unavailable(`the token on ${terms.networks.join(', ')} has not been proven by its chain`)
    const states = parts.router?.states()
    const payable = states ? known.filter(({ network }) => isTaken(network, states)) : known
    if (payable.length > 0) return payable
    // Asking is what makes the router look again.
    for (const { network } of known)
      void parts.router?.routes({ scheme: 'exact', network }).catch(() => undefined)
    throw unavailable(`no live facilitator takes payments on ${terms.networks.join(', ')}`)
  }

  return {
    accepts: (call) => remember(call).accepts,
    extensions: (call) => remember(call).wording.extensions,
    challenge(call, error = UNPAID) {
      const known = remember(call)
      const room = error === UNPAID ? known.quoteRoom : Math.min(known.quoteRoom, MIN_QUOTE_ROOM)
      const quote = call.terms.quote?.(call.quote, room).jws
      // A buyer that sends a long quote along is not sent it again where there is no room for it.
      const most = Math.max(room, MAX_BRIEF_QUOTE_CHARS)
      const shown = quote !== undefined && quote.length <= most ? quote : undefined
      return new OneChallenge(known, secrets.mint(), error, shown)
    },
  }
}

/** A door tells one form of it: the others, thousands of characters, are made when they are asked for. */
class OneChallenge implements Challenge {
  readonly error: string
  readonly quote: string | undefined
  readonly #known: Remembered
  readonly #own: string

  constructor(known: Remembered, own: string, error: string, quote: string | undefined) {
    this.#known = known
    this.#own = own
    this.error = error
    this.quote = quote
  }

  get asking() {
    return this.#known.asking
  }

  get acceptsV1() {
    return this.#known.acceptsV1
  }

  get required(): PaymentRequired {
    return this.#saying(this.#known.required(this.#own))
  }

  get json(): string {
    return this.error === UNPAID ? this.#known.json.join(this.#own) : JSON.stringify(this.required)
  }

  get header(): string {
    const isRoomy = this.quote === undefined || this.quote.length <= this.#known.quoteRoom
    return isRoomy && this.error === UNPAID ? this.#known.header(this.#own) : this.brief
  }

  get brief(): string {
    return base64(JSON.stringify(this.#saying(this.#known.brief(this.#own))))
  }

  #saying(required: PaymentRequired): PaymentRequired {
    return this.error === UNPAID ? required : { ...required, error: this.error }
  }
}

/** Puts the random part of one challenge into its place. */
function withChallenge(template: PaymentRequired, challenge: string): PaymentRequired {
  const { [OFFER_RECEIPT]: offered, ...others } = template.extensions ?? {}
  const { info, ...rest } = offered as { info: object }
  return {
    ...template,
    extensions: { ...others, [OFFER_RECEIPT]: { info: { ...info, challenge }, ...rest } },
  }
}

/**
 * Only the random part is encoded anew for each challenge, with the one or two bytes on either side that share their
 * three with it. Those are ASCII: the random part is a string in JSON.
 */
function around(before: string, after: string): Pick<Remembered, 'json' | 'header'> {
  const left = Buffer.byteLength(before) % 3
  const right = (3 - ((left + PLACEHOLDER.length) % 3)) % 3
  const [near, next] = [before.slice(before.length - left), after.slice(0, right)]
  const [head, tail] = [base64(before.slice(0, before.length - left)), base64(after.slice(right))]
  return {
    json: [before, after],
    header: (challenge) => head + base64(near + challenge + next) + tail,
  }
}

/** A settlement that did not happen, for `Payment-Response`. */
export function unsettled(claim: {
  payer: string
  network: string
  transaction: string | null
  reason: string
  message?: string | undefined
}): SettleResponse {
  const { payer, network, transaction, reason, message } = claim
  return {
    success: false,
    errorReason: reason,
    ...(message !== undefined && { errorMessage: message }),
    payer,
    transaction: transaction ?? '',
    network,
  }
}

/** Not known to be refused: an upstream that was never asked is given the benefit of the doubt. */
function isTaken(network: string, states: readonly UpstreamState[]): boolean {
  return states.some(
    // The kinds are those that it takes now: one that fails on a network says nothing of the others.
    ({ state, kinds }) =>
      state === 'unknown' || kinds.some((kind) => kind.scheme === 'exact' && kind.network === network),
  )
}

const unavailable = (why: string) =>
  new GatewayError(
    'payments_unavailable',
    `This cannot be paid for right now: ${why}. Nothing was charged.`,
    {
      reason: why,
      extras: { retry_after_seconds: 30 },
    },
  )

function v1Of(
  call: Asked,
  { v1Name }: PaymentNetwork,
  { amount, scheme, ...rest }: PaymentRequirements,
): Record<string, unknown>[] {
  if (v1Name === undefined) return []
  const { resource } = call
  return [
    {
      scheme,
      network: v1Name,
      maxAmountRequired: amount,
      resource: resource.url,
      description: describe(call),
      mimeType: 'application/json',
      payTo: rest.payTo,
      maxTimeoutSeconds: rest.maxTimeoutSeconds,
      asset: rest.asset,
      outputSchema: { input: { type: 'http', method: resource.method, discoverable: true } },
      extra: rest.extra,
    },
  ]
}

const describe = ({ tool: { title, summary }, terms: { shown } }: Asked) =>
  shown?.description ?? (summary.length <= 300 ? summary : title)

const base64 = (text: string) => Buffer.from(text).toString('base64')
