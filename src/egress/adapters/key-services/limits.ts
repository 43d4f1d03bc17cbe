/** For one answer of a key service. An attempt waits for it with its credit reserved; after it, the credit goes back. */
export const TIMEOUT_MS = 4_000
