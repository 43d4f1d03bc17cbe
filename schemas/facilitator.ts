import { z } from 'zod'

/**
 * Body of POST /verify and /settle. Its members are judged where payments are decoded, so that every refusal carries
 * x402's own members; the schema here is for readers.
 */
export const FacilitatorRequest = z
  .looseObject({
    x402Version: z
      .unknown()
      .optional()
      .meta({
        enum: [1, 2],
        description: 'Version of both',
        listed: false,
      }),
    paymentPayload: z
      .unknown()
      .optional()
      .meta({ type: 'object', additionalProperties: true, description: 'Payment-Signature, decoded' }),
    paymentRequirements: z
      .unknown()
      .optional()
      .meta({ type: 'object', additionalProperties: true, description: 'The `accepts` chosen' }),
  })
  .meta({ required: ['paymentPayload', 'paymentRequirements'] })

/** Shape of a request; the payer, the window and the signature have to be a real payer's. */
export const exampleRequest = {
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    accepted: {
      scheme: 'exact',
      network: 'eip155:84532',
      amount: '1000',
      asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      payTo: '0x000000000000000000000000000000000000bEEF',
      maxTimeoutSeconds: 300,
      extra: { name: 'USDC', version: '2' },
    },
    payload: {
      signature: `0x${'00'.repeat(65)}`,
      authorization: {
        from: '0x0000000000000000000000000000000000000001',
        to: '0x000000000000000000000000000000000000bEEF',
        value: '1000',
        validAfter: '0',
        validBefore: '1',
        nonce: `0x${'00'.repeat(32)}`,
      },
    },
  },
  paymentRequirements: {
    scheme: 'exact',
    network: 'eip155:84532',
    amount: '1000',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    payTo: '0x000000000000000000000000000000000000bEEF',
    maxTimeoutSeconds: 300,
    extra: { name: 'USDC', version: '2' },
  },
}
