import { z } from 'zod'

const members = {
  receipt_id: z.string(),
  url: z.string().describe('Where anyone who holds the id can read it again'),
}
const Jws = z.string()
const WORDS = 'Signed receipt; verify it with `agent-gateway receipts verify` or any JOSE library'
const FORM = 'Compact JWS (EdDSA) over the RFC 8785 form of the receipt'

/** A receipt with its signature. */
export const SignedReceipt = z.strictObject({ ...members, jws: Jws.describe(FORM) }).describe(WORDS)
export type SignedReceipt = z.infer<typeof SignedReceipt>

/**
 * A receipt in an answer, `null` where nothing was charged. REST gives the signature along; MCP and A2A, where a model would read it,
 * give it to who asks for it and in `gateway.receipts.get`.
 */
export const Receipt = z
  .strictObject({
    ...members,
    jws: Jws.optional().describe(
      `${FORM}. Over MCP and A2A in gateway.receipts.get, or with "agent-gateway/receipts": "full" in the metadata`,
    ),
  })
  .describe(WORDS)
