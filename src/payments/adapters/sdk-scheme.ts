// Verifies and settles Permit2 payments through the reference implementation, which reads and sends over our connection: one
// broadcast at most, under our nonces and gas cap. It is loaded when the first such payment comes.
import type { PaymentRequirements } from '../../../schemas/x402.ts'
import { ChainError, type Payment, type Verdict } from '../ports.ts'
import type { PaymentNetwork } from '../../core/networks.ts'
import type { ChainRpc } from './chain-rpc.ts'
import type { Broadcast } from './settler.ts'

export interface SdkScheme {
  verify(payment: Payment, requirements: PaymentRequirements): Promise<Verdict>
  /** @returns what was sent, or why nothing was; the caller finds out what became of it */
  send(
    payment: Payment,
    requirements: PaymentRequirements,
    from: { address: string; broadcast(to: string, data: string): Promise<Broadcast> },
  ): Promise<Broadcast>
}

/** Ends the reference implementation's settling once the transaction is out: we look for the receipt ourselves. */
class Sent extends Error {}

/** @param parts.rpc the connection that the reference implementation reads through */
export function createSdkScheme(parts: { network: PaymentNetwork; rpc: Pick<ChainRpc, 'ask'> }): SdkScheme {
  const { network, rpc } = parts

  /** @param write what becomes of a contract call; undefined: there is none */
  async function open(address: string, write?: (to: string, data: string) => Promise<never>) {
    const [{ ExactEvmScheme }, { createPublicClient, custom, encodeFunctionData }] = await Promise.all([
      import('@x402/evm/exact/facilitator'),
      import('viem'),
    ])
    let chainError: ChainError | undefined
    const client = createPublicClient({
      transport: custom(
        {
          async request({ method, params }: { method: string; params?: unknown[] }) {
            const [reply] = await rpc.ask([{ method, params: params ?? [] }]).catch((thrown: ChainError) => {
              // The reference implementation takes silence for a wallet without code, or for a bad signature.
              chainError = thrown
              throw thrown
            })
            if (reply?.ok) return reply.result
            throw Object.assign(new Error(reply?.message), { code: reply?.code, data: reply?.data })
          },
        },
        { retryCount: 0 },
      ),
    })
    const refuse = () => Promise.reject(new Error('nothing is sent here'))
    const scheme = new ExactEvmScheme({
      getAddresses: () => [address as `0x${string}`],
      readContract: (args) => client.readContract(args as never),
      verifyTypedData: (args) => client.verifyTypedData(args as never),
      getCode: (args) => client.getCode(args),
      writeContract: (args) => (write ? write(args.address, encodeFunctionData(args as never)) : refuse()),
      sendTransaction: ({ to, data }) => (write ? write(to, data) : refuse()),
      waitForTransactionReceipt: refuse,
    })
    return { scheme, chainError: () => chainError }
  }

  const refused = (payment: Payment, reason: string, message: string, isRetryable: boolean): Verdict => ({
    ok: false,
    check: reason.includes('signature') ? 'signature' : reason.includes('balance') ? 'balance' : 'simulation',
    reason,
    message,
    payer: payment.payer,
    isRetryable,
  })

  return {
    async verify(payment, requirements) {
      const { scheme, chainError } = await open('0x0000000000000000000000000000000000000001')
      const answer = await payment.wire
        .use((payload) => scheme.verify(payload as never, requirements as never))
        .catch(() => undefined)
      if (chainError() || answer === undefined)
        return refused(
          payment,
          'unexpected_verify_error',
          `${network.network} did not answer: try again.`,
          true,
        )
      if (answer.isValid) return { ok: true, payer: answer.payer ?? payment.payer }
      const reason = answer.invalidReason ?? 'unexpected_verify_error'
      return refused(payment, reason, `The Permit2 payment cannot be settled: ${reason}.`, false)
    },

    async send(payment, requirements, from) {
      let sending: Promise<Broadcast> | undefined
      const { scheme, chainError } = await open(from.address, async (to, data) => {
        sending ??= from.broadcast(to, data)
        await sending
        throw new Sent()
      })
      const answer = await payment.wire
        .use((payload) => scheme.settle(payload as never, requirements as never))
        .catch(() => undefined)
      if (sending) return sending
      return {
        state: 'refused',
        reason: chainError() ? 'chain_unreachable' : (answer?.errorReason ?? 'not_signed'),
      }
    },
  }
}
