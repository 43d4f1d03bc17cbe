import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { receiptOf, withReceipt, storeResult } from '../../../src/payments/stored-result.ts'

const RECEIPT = { receipt_id: 'rcp_1', url: 'http://127.0.0.1/v1/receipts/rcp_1', jws: 'a.b.c' }

describe('released bytes', () => {
  it('are the stored ones with the receipt as the last member, for any result', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (output) => {
        const { receipt: _, ...rest } = output
        const { json } = storeResult({ ...output, receipt: null })
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(rest)))
        const released = withReceipt(json, RECEIPT)
        expect(released).toBe(withReceipt(json, { ...RECEIPT }))
        expect(JSON.parse(released)).toEqual({ ...JSON.parse(json), receipt: RECEIPT })
        expect(released.endsWith(`"receipt":${JSON.stringify(RECEIPT)}}`)).toBe(true)
      }),
    )
  })

  it('are stored with their digest', () => {
    expect(storeResult({ a: 1, receipt: null })).toEqual({
      json: '{"a":1}',
      sha256: '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862',
    })
  })

  it.each([[undefined], [null], [[]], ['text'], [1]])('are never made of %j', (output) => {
    expect(() => storeResult(output)).toThrow(TypeError)
  })

  it('say where the receipt says it is', () => {
    const payload = Buffer.from(JSON.stringify({ iss: 'https://old.example' })).toString('base64url')
    const jws = `e30.${payload}.c2ln`
    expect(receiptOf({ id: 'rcp_1', accountId: '', jws, createdAt: 0 })).toEqual({
      receipt_id: 'rcp_1',
      url: 'https://old.example/v1/receipts/rcp_1',
      jws,
    })
  })
})
