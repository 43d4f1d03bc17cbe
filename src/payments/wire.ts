// A payment as presented -> a decoded payment.
import type { PaymentRequirements } from '../../schemas/x402.ts'
import type { Networks, Payment, PresentedPayment } from './ports.ts'

/** @throws {GatewayError} payment_invalid, saying what is wrong */
export function decodePayment(_presented: PresentedPayment, _networks: Networks): Payment {
  throw new Error('being written')
}

/**
 * Body of POST /verify and /settle, v1 or v2.
 * @throws {GatewayError} payment_invalid
 */
export function decodeFacilitatorRequest(
  _body: unknown,
  _networks: Networks,
): { payment: Payment; requirements: PaymentRequirements } {
  throw new Error('being written')
}
