// Prepares the answer that is stored before money moves, and the one that is sent after: the released bytes are a function
// of the stored ones and the receipt, so a replay is the same answer byte for byte.
import { hash } from 'node:crypto'
import type { SignedReceipt } from '../../schemas/receipt.ts'
import { isObject } from '../lib/json.ts'
import { decodeJws } from '../receipts/types.ts'
import type { StoredReceipt } from '../store/ports.ts'
import type { StoredResult } from './ports.ts'

/** @param output of a paid tool: an object whose `receipt` is null */
export function storeResult(output: unknown): StoredResult {
  if (!isObject(output)) throw new TypeError('the output of a paid tool is an object')
  const { receipt: _none, ...rest } = output
  const json = JSON.stringify(rest)
  return { json, sha256: hash('sha256', json, 'hex') }
}

/** `{…}` and a receipt -> `{…,"receipt":{…}}`. */
export function withReceipt(json: string, receipt: SignedReceipt): string {
  const open = json.slice(0, -1)
  return `${open}${open === '{' ? '' : ','}"receipt":${JSON.stringify(receipt)}}`
}

/** The address is the one in the receipt itself: the gateway may have moved since. */
export function receiptOf({ id, jws }: StoredReceipt): SignedReceipt {
  return { receipt_id: id, url: `${String(decodeJws(jws).payload['iss'])}/v1/receipts/${id}`, jws }
}
