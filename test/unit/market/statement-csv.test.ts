// Lines of a statement as CSV: what a spreadsheet reads is what the ledger says, and nothing of it is a formula.
import { expect, it } from 'vitest'
import { toCsv, toLine } from '../../../src/market/money/wire.ts'
import type { StatementEntry } from '../../../src/store/ports.ts'

const entry = (over: Partial<StatementEntry>): StatementEntry => ({
  account: 'seller:ada',
  network: 'eip155:8453',
  at: Date.UTC(2026, 10, 23),
  seq: 1,
  transactionId: 'mtx_1',
  amount: -970,
  balance: -970,
  kind: 'refund',
  reference: 'rfd_1',
  claimId: 'clm_1',
  serviceId: 'weather',
  route: 'GET /',
  gross: 1000,
  fee: 30,
  state: 'settled',
  transaction: null,
  receiptId: null,
  ...over,
})
const rowOf = (over: Partial<StatementEntry>) => toCsv([toLine(entry(over))]).split('\r\n')[1]

it('has a row of names, amounts as numbers, and nothing where there is nothing', () => {
  const [names, row, end] = toCsv([toLine(entry({}))]).split('\r\n')
  expect(names).toBe(
    'at,kind,amount_atomic,balance_atomic,gross_atomic,fee_atomic,service_id,route,claim_id,reference,state,transaction,receipt_id,transaction_id',
  )
  expect(row).toBe(
    '2026-11-23T00:00:00.000Z,refund,-970,-970,1000,30,weather,GET /,clm_1,rfd_1,settled,,,mtx_1',
  )
  expect(end).toBe('')
})

it('quotes what would end a field, and keeps formulas from being any', () => {
  expect(rowOf({ route: 'GET /a,"b"\r\nc' })).toBeDefined()
  expect(toCsv([toLine(entry({ route: 'GET /a,"b"' }))])).toContain(',"GET /a,""b""",')
  for (const formula of ['=1+1', '+1', '@SUM(A1)', '-2+3', '\t=1'])
    expect(toCsv([toLine(entry({ route: formula }))])).toContain(`'${formula}`)
})
