import { z } from 'zod'
import { SignedReceipt } from '../schemas/receipt.ts'
import { Timestamp } from '../schemas/http.ts'
import { free } from '../src/core/price.ts'
import { decodeJws } from '../src/receipts/types.ts'
import { defineTool } from './services.ts'

export const receiptsGet = defineTool({
  name: 'gateway.receipts.get',
  toolset: 'payments',
  title: 'Read a receipt',
  summary:
    'The signed receipt of a charged action: digests, amounts, host and times, never a query, body or header. ' +
    'Whoever holds the id may read it. Verify `jws` against /.well-known/gateway-egress-key.json.',
  brief: 'A signed receipt by its id: digests, amounts, host, times.',
  input: z.strictObject({ receipt_id: z.string().min(1).max(64).describe('rcp_…') }),
  output: SignedReceipt.extend({
    typ: z.string().describe('Kind of document, from the signed header'),
    kid: z.string().describe('Key it is signed with'),
    claims: z.looseObject({}).describe('The payload of `jws`, decoded'),
    created_at: Timestamp,
    status: z
      .enum(['valid', 'withdrawn', 'superseded'])
      .describe(
        '`valid`: what it says is so. `withdrawn`: its chain took the transaction back; the payment is being settled again, or ' +
          'is lost. `superseded`: the payment was settled by another transaction, see `replaced_by`',
      ),
    replaced_by: z.string().nullable().describe('Id of the receipt that is in its place'),
    revoked_key: z
      .strictObject({ kid: z.string(), revoked_at: Timestamp, reason: z.string() })
      .nullable()
      .describe(
        'The key that signed this receipt first, where it was revoked since: `jws` is then a fresh signature over the same claims',
      ),
  }),
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/receipts/{receipt_id}', operationId: 'getReceipt' },
  skill: {
    id: 'receipts-get',
    name: 'Read a receipt',
    tags: ['receipts', 'evidence'],
    examples: ['Show me the receipt of that call'],
  },
  errors: ['receipt_not_found'],
  examples: [{ title: 'One receipt', input: { receipt_id: 'rcp_0000000000000000000000000000000000' } }],
  handle: async function receiptsGet({ receipt_id }, { receipts }) {
    const { id, jws, createdAt, standing, revokedKey } = await receipts.get(receipt_id)
    const replacedBy = standing?.replacedBy ?? null
    const { header, payload } = decodeJws(jws)
    return {
      receipt_id: id,
      url: `${String(payload['iss'])}/v1/receipts/${id}`,
      jws,
      typ: String(header['typ']),
      kid: String(header['kid']),
      claims: payload,
      created_at: new Date(createdAt).toISOString(),
      status: !standing ? ('valid' as const) : replacedBy === null ? 'withdrawn' : 'superseded',
      replaced_by: replacedBy,
      revoked_key: revokedKey && {
        kid: revokedKey.kid,
        revoked_at: new Date(revokedKey.revokedAt).toISOString(),
        reason: revokedKey.reason,
      },
    }
  },
})
