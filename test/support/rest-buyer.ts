// A buyer over REST: asks, reads the 402, signs what it says, and sends the identical request again.
import type { PrivateKeyAccount } from 'viem/accounts'
import type { PaymentRequired } from '../../schemas/x402.ts'
import { signPayment, toHeader } from './chain.ts'

export interface BoughtAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // Tests read what they expect out of it; a wrong shape fails them.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export const fromHeader = <T>(value: string | null): T =>
  JSON.parse(Buffer.from(value ?? '', 'base64').toString()) as T

export function createRestBuyer(baseUrl: string, account: PrivateKeyAccount) {
  async function send(
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<BoughtAnswer> {
    const response = await fetch(baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    }
  }

  /** The header that pays for what a 402 asks. */
  async function sign(challenge: BoughtAnswer): Promise<Record<string, string>> {
    const required = fromHeader<PaymentRequired>(challenge.headers.get('payment-required'))
    const payment = await signPayment({
      account,
      requirements: required.accepts[0]!,
      resource: required.resource,
      // Stock clients of v2 send them back, and with them the secret that shows whose payment it is.
      ...(required.extensions && { extensions: required.extensions }),
    })
    return { 'payment-signature': toHeader(payment) }
  }

  return {
    send,
    sign,
    async buy(
      path: string,
      body: unknown,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<BoughtAnswer> {
      const challenge = await send(path, body, headers)
      if (challenge.status !== 402) return challenge
      return send(path, body, { ...headers, ...(await sign(challenge)) })
    },
  }
}
