// Times as answers and documents say them: RFC 3339 in UTC, with milliseconds.

/** Of one second many are written, and they differ in their last digits alone. */
let second = Number.NaN
/** Up to the milliseconds. */
let upTo = ''

/** @param time milliseconds since the epoch */
export function toTimestamp(time: number): string {
  if (!Number.isInteger(time)) return new Date(time).toISOString()
  const wanted = Math.floor(time / 1000)
  if (wanted !== second) {
    upTo = new Date(wanted * 1000).toISOString().slice(0, -'000Z'.length)
    second = wanted
  }
  const ms = time - wanted * 1000
  return `${upTo}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`
}
