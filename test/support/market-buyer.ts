// A buyer of what is sold below /p/: asks, reads the 402, signs what it says, and sends the identical request again.
import { request as httpRequest } from 'node:http'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { PaymentRequired } from '../../schemas/x402.ts'
import { signPayment, type SignOptions, toHeader } from './chain.ts'
import { fromHeader } from './rest-buyer.ts'

export interface MarketRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface MarketAnswer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
  readonly text: string
  // Tests read what they expect out of it; a wrong shape fails them.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export type MarketBuyer = ReturnType<typeof createMarketBuyer>

export function createMarketBuyer(baseUrl: string, account: PrivateKeyAccount) {
  async function send(path: string, request: MarketRequest = {}): Promise<MarketAnswer> {
    const response = await fetch(baseUrl + path, { redirect: 'manual', ...request })
    const bytes = Buffer.from(await response.arrayBuffer())
    const text = bytes.toString()
    const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== ''
    return {
      status: response.status,
      headers: response.headers,
      bytes,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    }
  }

  async function sign(
    challenge: MarketAnswer,
    over: Partial<SignOptions> = {},
  ): Promise<Record<string, string>> {
    const required = fromHeader<PaymentRequired>(challenge.headers.get('payment-required'))
    const payment = await signPayment({
      account,
      requirements: required.accepts[0]!,
      resource: required.resource,
      ...(required.extensions && { extensions: required.extensions }),
      ...over,
    })
    return { 'payment-signature': toHeader(payment) }
  }

  return {
    send,
    sign,
    async buy(path: string, request: MarketRequest = {}): Promise<MarketAnswer> {
      const challenge = await send(path, request)
      if (challenge.status !== 402) return challenge
      return send(path, { ...request, headers: { ...request.headers, ...(await sign(challenge)) } })
    },
  }
}

/** One request with its path as it is written: `fetch` and URL would tidy it up first. */
export function sendRaw(baseUrl: string, path: string, method = 'GET'): Promise<MarketAnswer> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path, method }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        const headers = new Headers(
          Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
        )
        const text = bytes.toString()
        resolve({
          status: response.statusCode ?? 0,
          headers,
          bytes,
          text,
          body: text === '' ? undefined : JSON.parse(text),
        })
      })
    })
    request.on('error', reject).end()
  })
}
