// MPP over Lightning: what an invoice of BOLT 11 asks for. The invoice is what is paid, and the amount beside it a convenience.
import { pickText, type Numeral } from '../decode/value.ts'
import type { Found, JsonObject } from '../ports.ts'

/** Tenths of a millisatoshi to one unit of the multiplier: a whole bitcoin where there is none. */
const TENTHS: Readonly<Record<string, bigint>> = {
  '': 1_000_000_000_000n,
  m: 1_000_000_000n,
  u: 1_000_000n,
  n: 1000n,
  p: 1n,
}
const TENTHS_OF_A_SATOSHI = 10_000n

/** @returns satoshis, a part of one counted as one; null where the invoice names no amount, or is an example's ellipsis */
export function readInvoice(invoice: Found<string> | null): Numeral | null {
  if (invoice === null || /\.{3}|…/.test(invoice.value)) return null
  const [, digits, unit = ''] =
    /^ln(?:bcrt|bc|tbs|tb)(\d{1,18})([munp]?)1[02-9ac-hj-np-z]/i.exec(invoice.value) ?? []
  const factor = TENTHS[unit.toLowerCase()]
  if (digits === undefined || factor === undefined) return null
  const satoshis = (BigInt(digits) * factor + TENTHS_OF_A_SATOSHI - 1n) / TENTHS_OF_A_SATOSHI
  return { value: String(satoshis), at: invoice.at, isInteger: true, isNumber: false }
}

/** The invoice of a charge, and the one of a session's deposit, each with the amount that is stated for it. */
export function readInvoices(
  request: Found<JsonObject> | null,
  details: Found<JsonObject> | null,
): { readonly charge: Numeral | null; readonly deposit: Numeral | null } {
  return {
    charge: readInvoice(pickText(details, 'invoice')),
    deposit: readInvoice(pickText(request, 'depositInvoice')),
  }
}
