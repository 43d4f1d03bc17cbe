import { z } from 'zod'

/** `null` where nothing was charged. */
export const Receipt = z
  .strictObject({
    receipt_id: z.string(),
    url: z.string().describe('Where anyone who holds the id can read it again'),
    jws: z.string().describe('Compact JWS (EdDSA) over the RFC 8785 form of the receipt'),
  })
  .describe('Signed receipt; verify it with `agent-gateway receipts verify` or any JOSE library')
export type Receipt = z.infer<typeof Receipt>
