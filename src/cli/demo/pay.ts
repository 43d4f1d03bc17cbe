// One paid call as a stock x402 client makes it: ask, read the 402, sign, ask again. The code that signs is the
// protocol's own package, so what works here works for anybody.
import { x402Client, x402HTTPClient } from '@x402/core/client'
import type { PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { privateKeyToAccount } from 'viem/accounts'
import type { Secret } from '../../lib/secret.ts'
import { CommandFailure, Exit } from '../exit.ts'

export interface PaidStep {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  /** Decoded `Payment-Response`. */
  readonly settlement: Readonly<Record<string, unknown>>
  readonly network: string
  readonly amountAtomic: bigint
  readonly payer: string
}

export interface Purchasable {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON. */
  readonly body?: string
}

export interface Buyer {
  readonly address: string
  /** @throws {CommandFailure} when the gateway asks for no payment, or does not take it */
  pay(request: Purchasable): Promise<PaidStep>
}

const TIMEOUT_MS = 60_000

/**
 * A buyer that answers each 402 with one payment.
 * @param privateKey of the sandbox's payer
 */
export function createBuyer(privateKey: Secret<string>): Buyer {
  const account = privateKey.use((key) => privateKeyToAccount(key as `0x${string}`))
  const client = new x402HTTPClient(new x402Client().register('eip155:*', new ExactEvmScheme(account)))

  return {
    address: account.address,
    async pay({ method, url, headers, body }) {
      const ask = (more: Readonly<Record<string, string>>) =>
        fetch(url, {
          method,
          headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers, ...more },
          ...(body !== undefined && { body }),
          redirect: 'manual',
          signal: AbortSignal.timeout(TIMEOUT_MS),
        })
      const challenge = await ask({})
      const text = await challenge.text()
      if (challenge.status !== 402) throw unexpected(url, challenge.status, text)
      const required: PaymentRequired = client.getPaymentRequiredResponse(
        (name) => challenge.headers.get(name),
        parse(text),
      )
      const payload = await client.createPaymentPayload(required)
      const answer = await ask(client.encodePaymentSignatureHeader(payload))
      const answered = await answer.text()
      if (!answer.ok) throw unexpected(url, answer.status, answered)
      const settlement = client.getPaymentSettleResponse((name) => answer.headers.get(name))
      return {
        status: answer.status,
        body: parse(answered) as Record<string, unknown>,
        settlement: settlement as unknown as Record<string, unknown>,
        network: payload.accepted.network,
        amountAtomic: BigInt(payload.accepted.amount),
        payer: account.address,
      }
    },
  }
}

function unexpected(url: string, status: number, text: string): CommandFailure {
  const document = parse(text)
  const detail =
    typeof document === 'object' && document !== null && 'detail' in document
      ? `: ${String(document.detail)}`
      : ''
  return new CommandFailure(Exit.failed, `${url} answered ${status}${detail}`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
