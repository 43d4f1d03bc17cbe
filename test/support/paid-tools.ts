// Tools that cost 0.001 USDC and count how often they really ran, and what sends payments to them over REST.
import { z } from 'zod'
import { x402 } from '../../src/core/price.ts'
import type { PaymentRequired, SettleResponse } from '../../schemas/x402.ts'
import type { AnyTool } from '../../src/core/registry.ts'
import { defineTool } from '../../tools/services.ts'
import { paymentsGet } from '../../tools/payments-get.ts'
import { receiptsGet } from '../../tools/receipts-get.ts'

export const PAID = '/v1/paid/say'
export const OTHER = '/v1/paid/shout'
export const TESTNET = '/v1/paid/say/testnet'
export const PRICE = 1000n

export interface PaidTools {
  readonly tools: readonly AnyTool[]
  /** Texts, in the order in which handlers ran. */
  readonly runs: string[]
  /** What the handler does before it answers. */
  before: ((text: string) => Promise<void>) | undefined
}

/** @param mainnet CAIP-2 id on which it is paid unless `testnet` is asked for */
export function createPaidTools(mainnet = 'eip155:84532'): PaidTools {
  const state: PaidTools = { tools: [], runs: [], before: undefined }
  const paid = (name: string, routes: readonly string[]) =>
    defineTool({
      name: `gateway.paid.${name}`,
      title: `Say it for money (${name})`,
      toolset: 'web',
      summary: 'Repeats a text. For tests.',
      input: z.strictObject({ text: z.string().max(100), testnet: z.boolean().default(false) }),
      output: z.strictObject({ text: z.string(), run: z.int() }),
      price: x402({ amount: PRICE }),
      caller: 'anyone',
      effects: { readOnly: false, idempotent: false, openWorld: false },
      rest: routes.map((path, at) => ({
        method: 'POST' as const,
        path,
        operationId: `paid_${name}_${at}`,
        ...(path.endsWith('/testnet') && { fixed: { testnet: true } }),
      })),
      errors: ['payment_required'],
      examples: [{ title: 'Say hello', input: { text: 'hello' } }],
      plan: ({ text, testnet }) => ({
        charge: { networks: [testnet ? 'eip155:84532' : mainnet] },
        async run() {
          const run = state.runs.push(text)
          await state.before?.(text)
          return { text, run }
        },
      }),
    })
  return Object.assign(state, {
    tools: [paid('say', [PAID, TESTNET]), paid('shout', [OTHER]), paymentsGet, receiptsGet],
  })
}

export interface PaidAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Parsed where it is JSON. */
  // Tests read what they expect out of it; a wrong shape fails them.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
  readonly required: PaymentRequired | undefined
  readonly settled: SettleResponse | undefined
}

/** @param headers e.g. the payment */
export async function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<PaidAnswer> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
  return read(await fetch(url, init))
}

export async function get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<PaidAnswer> {
  return read(await fetch(url, { headers }))
}

async function read(response: Response): Promise<PaidAnswer> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
    required: fromHeader(response.headers.get('payment-required')),
    settled: fromHeader(response.headers.get('payment-response')),
  }
}

const fromHeader = <T>(value: string | null): T | undefined =>
  value === null ? undefined : (JSON.parse(Buffer.from(value, 'base64').toString()) as T)
