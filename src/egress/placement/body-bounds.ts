// How much of a body is read for a place in it. Longer bodies, and those of more pieces, would hold up everybody else's requests while they
// are searched, before anything is charged.

/** In bytes, of a form or of JSON that a secret goes into. */
export const MAX_PLACED_BYTES = 1024 * 1024
/** Fields of a form; members, objects and lists of JSON together, as the doors bound them. */
export const MAX_PLACED_ITEMS = 30_000
