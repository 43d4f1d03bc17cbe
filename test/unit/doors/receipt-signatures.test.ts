import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Receipt, SignedReceipt } from '../../../schemas/receipt.ts'
import { withoutSignatures, withoutSignatureText } from '../../../src/doors/receipt-signatures.ts'

const whole = { receipt_id: 'rcp_1', url: 'https://gateway.example/v1/receipts/rcp_1', jws: 'eyJ.a.b' }
const { jws: _signature, ...named } = whole

describe('an answer in a message', () => {
  it('names receipts by id and URL, in lists and where there may be none', () => {
    const schema = z.strictObject({
      receipt: Receipt.nullable(),
      refunds: z.array(z.strictObject({ amount: z.string(), receipt: Receipt.nullable() })),
    })
    const output = {
      receipt: whole,
      refunds: [
        { amount: '1', receipt: whole },
        { amount: '2', receipt: null },
      ],
    }
    expect(withoutSignatures(schema, output)).toEqual({
      receipt: named,
      refunds: [
        { amount: '1', receipt: named },
        { amount: '2', receipt: null },
      ],
    })
    expect(output.receipt, 'the stored answer').toEqual(whole)
  })

  it('takes nothing out of a document of a stranger that looks like one', () => {
    const schema = z.strictObject({ content: z.unknown(), receipt: Receipt })
    const content = { receipt: whole, jws: 'eyJ.a.b' }
    expect(withoutSignatures(schema, { content, receipt: whole })).toEqual({ content, receipt: named })
    const json = JSON.stringify({ content, receipt: whole })
    const shown = withoutSignatureText(json, { content, receipt: whole })
    expect(shown).toBe(JSON.stringify({ content, receipt: named }))
  })

  it('keeps the signature of what is asked for as a receipt', () => {
    const schema = SignedReceipt.extend({ kid: z.string() })
    const output = { ...whole, kid: 'k' }
    expect(withoutSignatures(schema, output)).toBe(output)
  })
})
