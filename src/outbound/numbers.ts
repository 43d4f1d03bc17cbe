// Whether every number of a JSON document is the number that a double holds: identifiers of 19 digits are common, and
// what becomes of them is nothing to be silent about.

/** Nothing shorter can be inexact. */
const SUSPICIOUS = /[\d.]{16}|\d[eE][+-]?\d{2}/

/** @param json valid JSON */
export function hasInexactNumber(json: string): boolean {
  if (!SUSPICIOUS.test(json)) return false
  let isInexact = false
  JSON.parse(json, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value === 'number' && context?.source !== undefined)
      isInexact ||= !Number.isFinite(value) || digitsOf(context.source) !== digitsOf(String(value))
    return value
  })
  return isInexact
}

/** `-0.0120e3` -> `-12e0`: one spelling for a decimal number. */
function digitsOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  if (kept === '') return '0'
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`
}
