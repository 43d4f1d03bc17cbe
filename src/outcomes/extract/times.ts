// Turns times as pages state them into ISO 8601, with the zone that is stated and none where none is. Never a guess: what
// could mean two days is left out.

const ISO =
  /^(\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)(?:[T ]([0-2]\d:[0-5]\d(?::[0-6]\d(?:[.,]\d{1,9})?)?)\s?(Z|[+-]\d{2}:?\d{2})?)?$/i
/** `Fri, 02 Jan 2026 03:04:05 +0100`, the form of mail and of HTTP. */
const MAIL =
  /^(?:[a-z]{3},?\s+)?(\d{1,2})\s+([a-z]{3})\s+(\d{4})\s+([0-2]\d:[0-5]\d(?::[0-6]\d)?)\s+(gmt|utc|ut|z|[+-]\d{4})$/i
/** Month in words: only then is the order of day and month certain. */
const MONTH_FIRST = /^([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})$/i
const DAY_FIRST = /^(\d{1,2})(?:st|nd|rd|th)?\.?\s+([a-z]{3,9})\.?,?\s+(\d{4})$/i
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const MAX_CHARACTERS = 60

/** @returns undefined for anything that is not certain */
export function toIsoTime(stated: string): string | undefined {
  const text = stated.trim()
  if (text.length > MAX_CHARACTERS) return undefined
  const iso = ISO.exec(text)
  if (iso) {
    const [, date = '', clock, zone] = iso
    return clock === undefined ? date : `${date}T${clock.replace(',', '.')}${zoneOf(zone)}`
  }
  const mail = MAIL.exec(text)
  if (mail) {
    const [, day = '', month = '', year = '', clock, zone] = mail
    const date = dateOf(year, month, day)
    return date && `${date}T${clock}${zoneOf(zone)}`
  }
  const [, month, day = '', year = ''] = MONTH_FIRST.exec(text) ?? []
  if (month !== undefined) return dateOf(year, month, day)
  const [, firstDay, secondMonth = '', lastYear = ''] = DAY_FIRST.exec(text) ?? []
  return firstDay === undefined ? undefined : dateOf(lastYear, secondMonth, firstDay)
}

function zoneOf(zone: string | undefined): string {
  if (zone === undefined) return ''
  if (!/^[+-]/.test(zone)) return 'Z'
  return zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`
}

function dateOf(year: string, monthName: string, day: string): string | undefined {
  const month = MONTHS.indexOf(monthName.slice(0, 3).toLowerCase()) + 1
  if (month === 0 || Number(day) < 1 || Number(day) > 31) return undefined
  return `${year}-${String(month).padStart(2, '0')}-${day.padStart(2, '0')}`
}
