// Bounds of a request for an outcome.
export const MAX_SOURCES = 3
