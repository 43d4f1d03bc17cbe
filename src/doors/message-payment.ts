// MCP and A2A share this about money: how a payment is read out of a message, and the price of a tool in words. How a
// challenge is written down is each door's own.
import { amountWords, jobPrices } from '../documents/protocols.ts'
import { GatewayError } from '../core/errors.ts'
import type { PresentedPayment, PresentedSignIn } from '../core/charging.ts'
import type { AnyTool } from '../core/registry.ts'
import { Secret } from '../lib/secret.ts'

/** A signed payment is about 1 KiB; contract wallets and extensions make it larger. */
export const MAX_PAYMENT_BYTES = 64 * 1024

export interface ReadPayment {
  readonly payment: PresentedPayment | undefined
  /** Why it could not be read: for the call path, so that 401 and 429 come first. */
  readonly inputError: GatewayError | undefined
}

/**
 * @param value what the message holds where a payment belongs: the object of x402, or its base64 text as it would stand in
 * the HTTP header (the Cloudflare agents client sends that); absent when there is none
 * @param place for the refusal, e.g. `_meta["x402/payment"]`
 */
export function readPayment(value: unknown, place: string): ReadPayment {
  if (value === undefined || value === null) return { payment: undefined, inputError: undefined }
  const refuse = (detail: string): ReadPayment => ({
    payment: undefined,
    inputError: new GatewayError('payment_invalid', detail),
  })
  const size = typeof value === 'string' ? value.length : JSON.stringify(value).length
  if (size > MAX_PAYMENT_BYTES)
    return refuse(`Send at most ${MAX_PAYMENT_BYTES} bytes of payment in ${place}.`)
  if (typeof value === 'string')
    return {
      payment: { form: 'header', name: 'payment-signature', value: new Secret(value) },
      inputError: undefined,
    }
  if (typeof value !== 'object' || Array.isArray(value))
    return refuse(
      `${place} must be an x402 payment: the object that a payment client makes of the challenge.`,
    )
  return { payment: { form: 'object', value: new Secret(value) }, inputError: undefined }
}

/** Key of the proof of who paid, in the `_meta` of MCP and the metadata of A2A: x402's extension sign-in-with-x. */
export const SIGN_IN_META = 'x402/sign-in-with-x'

/** @param value what stands under that key; not judged here */
export const readSignIn = (value: unknown): PresentedSignIn | undefined =>
  value === undefined || value === null ? undefined : { value: new Secret(value) }

/** The price as a model should know it before it calls; empty for what is free, and for credits, which the tool's own words speak of. */
export function priceSentence({
  price,
  skills = [],
}: Pick<AnyTool, 'price'> & Partial<Pick<AnyTool, 'skills'>>): string {
  const prices = jobPrices({ skills })
  if (prices !== undefined) return ` Prices: ${prices}, by x402. ${HOW_TO_PAY}`
  if (price.kind === 'credits' && price.taken === 'allowance')
    return ` Free up to an allowance, then ${price.credits} credit a call.`
  if (price.kind !== 'x402') return ''
  if (price.setBy !== undefined) return ` Costs money: ${price.setBy}, in USDC a call, by x402. ${HOW_TO_PAY}`
  const amount = amountWords(price)
  if (price.mayBeFree !== undefined || price.upToAtomic !== undefined)
    return ` Some calls cost ${amount} USDC, by x402. ${HOW_TO_PAY}`
  return ` Costs money, usually ${amount} USDC a call, by x402. ${HOW_TO_PAY}`
}

const HOW_TO_PAY = 'Unpaid, it only says how to pay.'
