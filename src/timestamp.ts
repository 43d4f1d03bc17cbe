// Times as answers and documents say them: RFC 3339 in UTC, with milliseconds.

/** Of one millisecond several are written: an attempt and its receipt, the answers of a batch, calls side by side. */
let last = { time: Number.NaN, text: '' }

/** @param time milliseconds since the epoch */
export function toTimestamp(time: number): string {
  if (last.time !== time) last = { time, text: new Date(time).toISOString() }
  return last.text
}
