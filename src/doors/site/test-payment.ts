// The one way to the sandbox's test money: pages of this site ask for the payment that a 402 of this gateway wants, a few times a minute.
import { PaymentRequired } from '../../../schemas/x402.ts'
import { GatewayError } from '../../core/errors.ts'
import { createRateLimiter } from '../../core/rate-limit.ts'
import { isObject } from '../../lib/json.ts'
import { readJson } from '../http/body.ts'
import { sendJson } from '../http/reply.ts'
import type { Handler } from '../http/resource.ts'
import { senderOf } from './own-page.ts'
import type { SiteParts } from './ports.ts'

/** The largest challenge of ours is 8 KB. */
const MAX_BYTES = 32 * 1024
/** Payments a minute, where GATEWAY_RATE_LIMIT says nothing. */
const PER_MINUTE = { address: 20, everybody: 120 } as const

/** What a page gets: the value of the header `Payment-Signature`, and who pays. */
export interface TestPayment {
  readonly payment_signature: string
  readonly payer: string
}

/** Answers `{payment_required}` with a payment of the test wallet. Without a wallet, in production that is, there is no such address. */
export function testPaymentHandler({
  testWallet,
  config,
}: Pick<SiteParts, 'testWallet' | 'config'>): Handler {
  const limiter = createRateLimiter(config.rateLimit)

  async function count(address: string): Promise<void> {
    const own = await limiter.take('test payments', address, PER_MINUTE.address)
    if (own?.exceeded) throw tooMany(own.resetSeconds)
    const all = await limiter.take('test payments', 'everybody', PER_MINUTE.everybody)
    if (all?.exceeded) throw tooMany(all.resetSeconds)
  }

  return async ({ req, res, context }) => {
    if (!testWallet) throw new GatewayError('not_found', 'Only a sandbox has a test wallet.')
    if (senderOf(req) !== 'own page')
      throw new GatewayError('origin_denied', 'The test wallet pays for the pages of this site.', {
        reason: 'test payment',
      })
    await count(context.address)
    const body = await readJson(req, { maxBytes: MAX_BYTES, address: context.address })
    const required = PaymentRequired.safeParse(isObject(body) ? body['payment_required'] : undefined)
    if (!required.success)
      throw new GatewayError(
        'input_invalid',
        'Send `{"payment_required": …}` with what the header Payment-Required of the 402 holds, decoded.',
      )
    const payment = await testWallet.pay(required.data)
    const answer: TestPayment = {
      payment_signature: Buffer.from(JSON.stringify(payment)).toString('base64'),
      payer: payerOf(payment.payload),
    }
    sendJson(res, 200, answer, { 'cache-control': 'no-store', 'x-request-id': context.requestId })
  }
}

function payerOf({ authorization }: Readonly<Record<string, unknown>>): string {
  return isObject(authorization) && typeof authorization['from'] === 'string' ? authorization['from'] : ''
}

const tooMany = (resetSeconds: number) =>
  new GatewayError('rate_limited', `The test wallet pays again in ${resetSeconds} s.`, {
    extras: { retry_after_seconds: resetSeconds },
  })
