// How long the head of a 402 may be, and how its room is shared out. A proxy reads the head of an answer into one buffer: nginx has
// 4 KiB for it unless it is told otherwise (`proxy_buffer_size`), and answers 502 in place of what is longer.

/** Status line and headers, to the empty line. */
export const MAX_HEAD_BYTES = 4096
/** All other headers of a 402, with rate limits and those for pages of other sites: 560 were measured. */
const OTHERS = 600
/** The values of `Payment-Required` and `X-Gateway-Quote` together. */
export const MAX_BOTH_CHARS = MAX_HEAD_BYTES - OTHERS

/** The room that a challenge leaves to a quote at least; what it does not need itself comes on top. */
export const MIN_QUOTE_ROOM = 1400
/** Doors that write a quote into a message have room for any. */
export const ANY_QUOTE_ROOM = 5120
/** A quote that its buyer presents may be longer: then the challenge beside it is brief. */
export const MAX_BRIEF_QUOTE_CHARS = 2048

/** The most JSON that fits into `Payment-Required`, whose base64 is a third longer. */
export const maxRequiredBytes = ({ isQuoted }: { readonly isQuoted: boolean }): number =>
  Math.floor((MAX_BOTH_CHARS - (isQuoted ? MIN_QUOTE_ROOM : 0)) / 4) * 3
