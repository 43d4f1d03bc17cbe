// Times as answers and documents say them: RFC 3339 in UTC, with milliseconds.

/**
 * @param time milliseconds since the epoch
 * @throws {RangeError} for what is no time
 */
export const toTimestamp = (time: number): string => new Date(time).toISOString()

/** Does what `toTimestamp` does, for moments that may not have come. */
export const toTimestampOrNull = (time: number | null): string | null =>
  time === null ? null : toTimestamp(time)
