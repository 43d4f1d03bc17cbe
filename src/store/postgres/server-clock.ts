// The clock of the database, which all processes on it share: theirs may be far apart.

/** Milliseconds since the epoch. */
export const SERVER_NOW = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint`
