// A chain that says nothing is no fault of the payment, whatever the reference implementation makes of the silence.
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { createSdkScheme } from '../../../src/payments/adapters/sdk-scheme.ts'
import { ChainError, type Payment } from '../../../src/payments/ports.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { makePayment, PAY_TO, requirements as base, sepolia } from '../../support/payment-fakes.ts'
import { cites } from '../../requirements.ts'

const account = privateKeyToAccount(`0x${'b7'.repeat(32)}`)
const requirements = {
  ...base,
  payTo: PAY_TO,
  extra: { ...base.extra, assetTransferMethod: 'permit2' },
}

async function permit2(change: (payload: Record<string, unknown>) => void = () => {}): Promise<Payment> {
  const { payload } = await new ExactEvmScheme(account).createPaymentPayload(2, requirements as never)
  change(payload)
  const wire = { x402Version: 2 as const, accepted: requirements, payload }
  return makePayment(Date.now(), { payer: account.address.toLowerCase(), wire: new Secret(wire) })
}

/** @param ask what the node answers to each call, or throws */
const schemeOver = (ask: (method: string) => unknown) =>
  createSdkScheme({
    network: sepolia,
    rpc: {
      ask: async (calls: readonly { readonly method: string }[]) =>
        calls.map(({ method }) => ({ ok: true, result: ask(method) })),
    } as never,
  })
const silent = () => {
  throw new ChainError('timeout', sepolia.network)
}

describe('verifying a Permit2 payment', () => {
  it(
    cites(
      'x402:permit2:silence',
      'asks to try again when the chain does not answer, though the SDK has a verdict',
    ),
    async () => {
      const payment = await permit2()
      const verdict = await schemeOver(silent).verify(payment, requirements)
      expect(verdict).toMatchObject({ ok: false, reason: 'unexpected_verify_error', isRetryable: true })
    },
  )

  it('asks to try again when the SDK has no verdict, though the chain answered', async () => {
    const payment = { ...(await permit2()), wire: new Secret(null as never) }
    const verdict = await schemeOver(() => '0x').verify(payment, requirements)
    expect(verdict).toMatchObject({ ok: false, reason: 'unexpected_verify_error', isRetryable: true })
  })

  it('refuses for good what the SDK refuses, when the chain answered', async () => {
    const payment = await permit2((payload) => (payload['signature'] = `0x${'00'.repeat(64)}1b`))
    const verdict = await schemeOver(() => '0x').verify(payment, requirements)
    expect(verdict).toMatchObject({ ok: false, isRetryable: false })
    expect(verdict).not.toMatchObject({ reason: 'unexpected_verify_error' })
  })
})
