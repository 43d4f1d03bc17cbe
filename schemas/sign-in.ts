// Words of x402's extension `sign-in-with-x` (CAIP-122, over EIP-4361 on EVM chains): what a payer is asked to sign, and what
// it sends back.
import { z } from 'zod'

/** The extension's own form, so that its stock client signs it as it stands. */
export const SignInChallenge = z
  .strictObject({
    info: z.strictObject({
      domain: z.string(),
      uri: z.string().describe('The payment that is asked for; the signature is good for no other'),
      statement: z.string(),
      version: z.literal('1'),
      nonce: z.string().describe('Good once'),
      issuedAt: z.string(),
      expirationTime: z.string(),
      resources: z.array(z.string()),
    }),
    supportedChains: z.array(z.strictObject({ chainId: z.string(), type: z.literal('eip191') })),
  })
  .describe(
    'Shows who paid: sign `info` as an EIP-4361 message (x402 extension `sign-in-with-x`) with the wallet that paid, on the ' +
      'chain that it paid on, and send base64 of {…info, address, chainId, type, signature} to `info.uri` as the header ' +
      '`Sign-In-With-X`, or that object as `_meta["x402/sign-in-with-x"]` over MCP',
  )
export type SignInChallenge = z.infer<typeof SignInChallenge>

const line = z
  .string()
  .max(512)
  .regex(/^[^\r\n]*$/, 'must be one line')

/** The answer. Members that are not asked for make another message, so none may be there. */
export const SignInProof = z.strictObject({
  domain: line,
  address: z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits'),
  statement: line,
  uri: line,
  version: line,
  chainId: z.string().regex(/^eip155:[1-9]\d{0,15}$/, 'must be a CAIP-2 id of an EVM chain'),
  type: z.literal('eip191'),
  nonce: line,
  issuedAt: line,
  expirationTime: line,
  resources: z.array(line).max(4),
  /** A hint, which decides nothing: whether there is a contract at the address does. */
  signatureScheme: line.optional(),
  signature: z
    .string()
    .max(2 + 2 * 2048, 'must have at most 2048 bytes')
    .regex(/^0x(?:[0-9a-fA-F]{2})+$/, 'must be 0x and pairs of hex digits'),
})
export type SignInProof = z.infer<typeof SignInProof>
