// Reads an image of a page as an address with words: what is loaded late, or in several sizes, included.
import { cleanText, collapseSpaces, cutText } from './text.ts'
import { attribute, type Element } from './tree.ts'

export interface Image {
  /** As written. */
  readonly src: string
  readonly alt: string
}

const MAX_ALT_CHARACTERS = 300
const MAX_SRC_CHARACTERS = 2048
const MAX_SRCSET_CHARACTERS = 8192
/** Images that count visits, and lines that are drawn. */
const MIN_PIXELS = 3
/** Pages that load images late put the address here and a blank image in `src`. */
const LATE_SOURCES = ['data-src', 'data-original', 'data-lazy-src', 'data-url'] as const

/** Undefined for what shows nothing. */
export function readImage({ attributes }: Element): Image | undefined {
  if (isTiny(attributes['width']) || isTiny(attributes['height'])) return undefined
  const alt = cutText(collapseSpaces(cleanText(attributes['alt'] ?? '')), MAX_ALT_CHARACTERS)
  const late = LATE_SOURCES.map((name) => attribute(attributes, name)).find(isAddress)
  const sizes = attribute(attributes, 'data-srcset') ?? attribute(attributes, 'srcset')
  const src = late ?? (sizes === undefined ? undefined : largestOf(sizes)) ?? attribute(attributes, 'src')
  return isAddress(src) ? { src: src.trim(), alt } : undefined
}

/** A sign drawn as an image, as forums and chats do: a reader sees the sign. */
export function pictograph({ attributes: { alt, class: className } }: Element): string | undefined {
  if (alt !== undefined && /^:[\w+-]{1,40}:$/.test(alt) && /(?:^|\s)emoji(?:\s|$)/.test(className ?? ''))
    return alt
  return alt !== undefined &&
    alt.length <= 16 &&
    /^(?:\p{Extended_Pictographic}|\p{Emoji_Component})+$/u.test(alt) &&
    /\p{Extended_Pictographic}/u.test(alt)
    ? alt
    : undefined
}

const isTiny = (size: string | undefined) =>
  size !== undefined && /^\s*\d{1,6}(?:\.\d+)?(?:px)?\s*$/.test(size) && Number.parseFloat(size) < MIN_PIXELS

const isAddress = (src: string | undefined): src is string =>
  src !== undefined &&
  src.trim() !== '' &&
  src.length <= MAX_SRC_CHARACTERS &&
  !/^\s*(?:data|blob|about|javascript):/i.test(src)

/** The widest, or the densest, of a list of sizes. */
function largestOf(sizes: string): string | undefined {
  if (sizes.length > MAX_SRCSET_CHARACTERS) return undefined
  let best: string | undefined
  let most = -1
  for (const [, src, size] of sizes.matchAll(/([^\s,]\S*[^\s,])(?:\s+([\d.]+)[wx])?\s*(?:,|$)/g)) {
    const weight = size === undefined ? 1 : Number.parseFloat(size)
    if (weight > most && isAddress(src)) {
      best = src
      most = weight
    }
  }
  return best
}
