// One call as a visitor sees it happen: ask, hear the price, pay with test money, get the result. Every step is told as it ends, with what
// was really sent and received. Nothing here decides a price or a limit: it is an x402 client like any other, whose wallet is the sandbox's.

export interface PaidCall {
  /** `page.api`. */
  readonly api: string
  readonly method: string
  /** `/v1/tools/web.fetch` */
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Address of the test wallet, `page.href('/site/test-payment')`; undefined where nobody pays, and the price is the answer. */
  readonly wallet: string | undefined
  readonly signal?: AbortSignal
}

/** A request as it was sent. */
export interface ShownRequest {
  readonly method: string
  readonly path: string
  readonly headers: readonly ShownHeader[]
  /** Indented JSON. */
  readonly body: string | undefined
}
export interface ShownResponse {
  readonly status: number
  /** Those that say something of the call. */
  readonly headers: readonly ShownHeader[]
}
/** `value` is shortened where it is long: what is in it is shown elsewhere. */
export interface ShownHeader {
  readonly name: string
  readonly value: string
}

/** What a 402 asks for: the first of its ways to pay. */
export interface Price {
  /** Decimal, `0.001`. */
  readonly amount: string
  readonly amount_atomic: string
  /** `USDC` */
  readonly asset: string
  /** CAIP-2 */
  readonly network: string
  readonly pay_to: string
  readonly description: string | undefined
}

export interface Settlement {
  readonly transaction: string
  readonly network: string
  readonly payer: string | undefined
}

export interface CallReceipt {
  readonly receipt_id: string
  readonly url: string
  readonly jws: string | undefined
}

/** A step that has just ended; `ms` is how long it took. */
export type CallStep =
  | { readonly name: 'asked'; readonly request: ShownRequest }
  | {
      readonly name: 'priced'
      readonly ms: number
      readonly response: ShownResponse
      readonly price: Price
    }
  | { readonly name: 'paid'; readonly ms: number; readonly payer: string; readonly request: ShownRequest }
  | {
      readonly name: 'answered'
      readonly ms: number
      readonly response: ShownResponse
      readonly settlement: Settlement | undefined
    }

/** Members of a problem document (RFC 9457) that a page shows. */
export interface CallProblem {
  /** `unreachable` where there was no answer at all. */
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly retry_after_seconds: number | undefined
}

export type CallOutcome =
  | {
      readonly ok: true
      readonly status: number
      /** Parsed where it is JSON, else text. */
      readonly body: unknown
      readonly price: Price | undefined
      readonly settlement: Settlement | undefined
      readonly receipt: CallReceipt | undefined
    }
  | {
      readonly ok: false
      readonly status: number
      readonly problem: CallProblem
      readonly body: unknown
      readonly price: Price | undefined
    }

/** Calls, and pays where the answer is a price. It throws nothing but the reason of `signal`. */
export async function callPaid(call: PaidCall, onStep: (step: CallStep) => void): Promise<CallOutcome> {
  let price: Price | undefined
  try {
    const body = call.body === undefined ? undefined : JSON.stringify(call.body)
    const first = await send(call, body, {}, (request) => onStep({ name: 'asked', request }))
    if (first.status !== 402) return finish(first, undefined, onStep)

    const required = decode(first.headers.get('payment-required'))
    price = priceOf(required)
    // A 402 for credits names no payment in its head.
    if (!price) return finish(first, undefined, onStep)
    onStep({ name: 'priced', ms: first.ms, response: shownResponse(first), price })
    if (call.wallet === undefined) return failure(first, price)

    const asked = performance.now()
    const signed = await fetch(call.wallet, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ payment_required: required }),
      ...(call.signal && { signal: call.signal }),
    })
    const payment = (await readBody(signed)) as { payment_signature: string; payer: string }
    if (!signed.ok) return failure({ status: signed.status, headers: signed.headers, body: payment }, price)

    const ms = performance.now() - asked
    const { payer } = payment
    const paying = { 'payment-signature': payment.payment_signature }
    const second = await send(call, body, paying, (request) => onStep({ name: 'paid', ms, payer, request }))
    return finish(second, price, onStep)
  } catch (thrown) {
    call.signal?.throwIfAborted()
    const detail = thrown instanceof Error ? thrown.message : String(thrown)
    const problem = { code: 'unreachable', title: '', detail, retry_after_seconds: undefined }
    return { ok: false, status: 0, problem, body: undefined, price }
  }
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

async function send(
  { api, method, path, headers, signal }: PaidCall,
  body: string | undefined,
  payment: Readonly<Record<string, string>>,
  onSent: (request: ShownRequest) => void,
): Promise<Answer & { readonly ms: number }> {
  const sent: Record<string, string> = {
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
    ...payment,
  }
  const started = performance.now()
  const answering = fetch(api + path, {
    method,
    headers: sent,
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
    redirect: 'manual',
    credentials: 'omit',
  })
  onSent({
    method,
    path,
    headers: Object.entries(sent).map(([name, value]) => ({ name, value: shorten(value) })),
    body: body === undefined ? undefined : JSON.stringify(JSON.parse(body), undefined, 2),
  })
  const response = await answering
  const read = await readBody(response)
  return {
    status: response.status,
    headers: response.headers,
    body: read,
    ms: performance.now() - started,
  }
}

function finish(
  answer: Answer & { readonly ms: number },
  price: Price | undefined,
  onStep: (step: CallStep) => void,
): CallOutcome {
  const { status, body, ms } = answer
  const settlement = settlementOf(decode(answer.headers.get('payment-response')))
  onStep({ name: 'answered', ms, response: shownResponse(answer), settlement })
  if (status < 200 || status > 299) return failure(answer, price)
  return { ok: true, status, body, price, settlement, receipt: receiptOf(body) }
}

function failure({ status, body }: Answer, price: Price | undefined): CallOutcome {
  const document = isObject(body) ? body : {}
  const retry = document['retry_after_seconds']
  const problem = {
    code: textOf(document['code']) ?? String(status),
    title: textOf(document['title']) ?? '',
    detail: textOf(document['detail']) ?? (typeof body === 'string' ? body.slice(0, 500) : ''),
    retry_after_seconds: typeof retry === 'number' ? retry : undefined,
  }
  return { ok: false, status, problem, body, price }
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text()
  if (!/\bjson\b/.test(response.headers.get('content-type') ?? '')) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const SHOWN = [
  'content-type',
  'payment-required',
  'payment-response',
  'x-gateway-quote',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'idempotent-replayed',
  'x-request-id',
]

const shownResponse = ({ status, headers }: Answer): ShownResponse => ({
  status,
  headers: SHOWN.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [{ name, value: shorten(value) }]
  }),
})

const MAX_SHOWN = 72
/** Payments and challenges are long, and nobody reads base64. */
const shorten = (value: string) => (value.length <= MAX_SHOWN ? value : `${value.slice(0, MAX_SHOWN - 24)}…`)

/** JSON in base64, as the headers of x402 have it. */
function decode(header: string | null): unknown {
  if (header === null) return undefined
  try {
    const bytes = Uint8Array.from(atob(header), (character) => character.charCodeAt(0))
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

const DECIMALS = 6

function priceOf(required: unknown): Price | undefined {
  const { accepts, resource } = isObject(required) ? required : {}
  const offer: unknown = Array.isArray(accepts) ? accepts[0] : undefined
  if (!isObject(offer)) return undefined
  const amount = textOf(offer['amount'])
  if (amount === undefined || !/^\d+$/.test(amount)) return undefined
  return {
    amount: decimal(amount),
    amount_atomic: amount,
    asset: 'USDC',
    network: textOf(offer['network']) ?? '',
    pay_to: textOf(offer['payTo']) ?? '',
    description: isObject(resource) ? textOf(resource['description']) : undefined,
  }
}

/** Atomic USDC as people write it: `1000` is `0.001`. */
export function decimal(atomic: string): string {
  const digits = atomic.padStart(DECIMALS + 1, '0')
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '')
  return digits.slice(0, -DECIMALS) + (fraction && `.${fraction}`)
}

function settlementOf(settled: unknown): Settlement | undefined {
  if (!isObject(settled) || settled['success'] !== true) return undefined
  const { transaction, network, payer } = settled
  return {
    transaction: textOf(transaction) ?? '',
    network: textOf(network) ?? '',
    payer: textOf(payer),
  }
}

function receiptOf(body: unknown): CallReceipt | undefined {
  const receipt = isObject(body) ? body['receipt'] : undefined
  if (!isObject(receipt)) return undefined
  const id = textOf(receipt['receipt_id'])
  return id === undefined
    ? undefined
    : { receipt_id: id, url: textOf(receipt['url']) ?? '', jws: textOf(receipt['jws']) }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
