// Reads the path below a service. A segment is taken as it is or refused: nothing is decoded into another path, and nothing is
// normalised. Values of parameters are decoded once, and written anew on the way to the upstream.

/** Without `;` (path parameters of old), `%` but in front of two hex digits, and whatever is no ASCII. */
const SEGMENT = /^(?:[A-Za-z0-9._~!$&'()*+,=:@-]|%[0-9A-Fa-f]{2})+$/
const MAX_CHARS = 512
const MAX_SEGMENTS = 16

export interface Segment {
  readonly raw: string
  readonly value: string
}

/** @returns undefined where no upstream may be sent to look for it */
export function readPath(raw: string): readonly Segment[] | undefined {
  if (!raw.startsWith('/') || raw.length > MAX_CHARS) return undefined
  if (raw === '/') return []
  const segments: Segment[] = []
  for (const text of raw.slice(1).split('/')) {
    const value = SEGMENT.test(text) ? decode(text) : undefined
    if (value === undefined || segments.length === MAX_SEGMENTS) return undefined
    segments.push({ raw: text, value })
  }
  return segments
}

/** Whatever a second reader could take for a separator, an escape, another folder or nothing at all. */
const AMBIGUOUS = /[/\\%?#;\p{C}\p{Zl}\p{Zp}]|^\.{1,2}$/u

function decode(text: string): string | undefined {
  try {
    const value = decodeURIComponent(text)
    return AMBIGUOUS.test(value) ? undefined : value
  } catch {
    return undefined
  }
}

/** A segment of a path that holds this text, with everything escaped that means something. */
export const encodeSegment = (value: string): string =>
  encodeURIComponent(value).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
