// Reads where the text of a page stands: pieces of one font on one base line, upright, from the top left corner down.
import type { PDFPageProxy } from './open.ts'

/** A piece of text as the file draws it. Lengths are in points. */
export interface Fragment {
  readonly text: string
  readonly x: number
  /** The base line. */
  readonly y: number
  readonly width: number
  /** The size of the letters. */
  readonly size: number
  readonly isRtl: boolean
  readonly href: string | undefined
}

export interface PageText {
  readonly fragments: readonly Fragment[]
  /** Text beyond the edge of the page, or too small for an eye. */
  readonly hidden: string
  readonly height: number
  /** Something of the page was left out, because there is too much of it. */
  readonly isCut: boolean
}

const MAX_LINKS = 2000
/** No eye reads letters that are smaller, in points. */
const MIN_SIZE = 1.5

type Matrix = readonly number[]

/** @param maxItems pieces that are read: what follows is left out */
export async function readFragments(page: PDFPageProxy, maxItems: number): Promise<PageText> {
  const { transform, width, height } = page.getViewport({ scale: 1 })
  const placed: (Omit<Fragment, 'href'> & { readonly turns: number })[] = []
  let hidden = ''
  let isCut = false
  // One that is not read to its end waits, and ends with its process: cancelled, the library writes to it once more and fails.
  const reader = page.streamTextContent().getReader()
  for (let items = 0; !isCut;) {
    const { done, value } = await reader.read()
    if (done) break
    for (const item of value.items) {
      if (!('str' in item) || item.str.trim() === '') continue
      if (++items > maxItems) {
        isCut = true
        break
      }
      const fragment = place({ ...item, str: toLetters(item.str) }, transform)
      if (!fragment) continue
      const isSeen =
        fragment.size >= MIN_SIZE &&
        fragment.at.x <= width &&
        fragment.at.y <= height &&
        fragment.at.x >= -fragment.size &&
        fragment.at.y >= -fragment.size
      if (isSeen) placed.push(turn(fragment, width, height))
      else hidden += `${item.str}\n`
    }
  }
  const turns = mostCommonTurns(placed)
  const links = turns === 0 ? await readLinks(page, transform) : []
  return {
    // Text that stands on its head or its side comes last: a stamp at the edge, the name of an axis.
    fragments: [
      ...placed.filter((each) => each.turns === turns),
      ...placed.filter((each) => each.turns !== turns).map((each, i) => aside(each, i, width, height)),
    ].flatMap((fragment) => splitAtLinks({ ...fragment, href: undefined }, links)),
    hidden,
    height: turns % 2 === 0 ? height : width,
    isCut,
  }
}

/** Forms of letters that only fonts tell apart; marks that stand alone there have a space before them. */
const FORMS = /[\uFB00-\uFDFF\uFE70-\uFEFC]+/g
const toLetters = (text: string) =>
  text.replace(FORMS, (forms) => forms.normalize('NFKC').replace(/ (?=\p{M})/gu, ''))

interface Item {
  readonly str: string
  readonly dir: string
  readonly width: number
  readonly transform: Matrix
}

function place({ str, dir, width, transform }: Item, viewport: Matrix) {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = multiply(viewport, transform)
  const size = Math.hypot(c, d)
  const numbers = [a, b, size, e, f, width]
  if (!numbers.every((each) => Number.isFinite(each) && Math.abs(each) < 1e6)) return undefined
  // Quarters of a circle, clockwise.
  const turns = (Math.round(Math.atan2(b, a) / (Math.PI / 2)) + 4) % 4
  return { text: str, at: { x: e, y: f }, width: Math.abs(width), size, turns, isRtl: dir === 'rtl' }
}

/** As it stands when the page is turned so that the text is upright. */
function turn(
  { at: { x, y }, ...rest }: NonNullable<ReturnType<typeof place>>,
  width: number,
  height: number,
) {
  const [nx, ny] = (
    [
      [x, y],
      [y, width - x],
      [width - x, height - y],
      [height - y, x],
    ] as const
  )[rest.turns] ?? [x, y]
  return { ...rest, x: nx, y: ny }
}

const aside = <T extends { readonly size: number }>(each: T, i: number, width: number, height: number) => ({
  ...each,
  x: 0,
  y: Math.max(width, height) * 2 + i * each.size * 3,
})

function mostCommonTurns(placed: readonly { readonly turns: number; readonly text: string }[]): number {
  const letters = [0, 0, 0, 0]
  for (const { turns, text } of placed) letters[turns] = (letters[turns] ?? 0) + text.length
  return letters.indexOf(Math.max(...letters))
}

interface LinkArea {
  readonly href: string
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

async function readLinks(page: PDFPageProxy, viewport: Matrix): Promise<LinkArea[]> {
  const annotations = (await page.getAnnotations()) as readonly {
    readonly subtype?: string
    readonly url?: string
    readonly rect?: readonly number[]
  }[]
  const areas: LinkArea[] = []
  for (const { subtype, url, rect } of annotations) {
    if (subtype !== 'Link' || typeof url !== 'string' || rect?.length !== 4) continue
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = rect
    const [ax = 0, ay = 0] = multiply(viewport, [1, 0, 0, 1, x0, y0]).slice(4)
    const [bx = 0, by = 0] = multiply(viewport, [1, 0, 0, 1, x1, y1]).slice(4)
    areas.push({
      href: url,
      left: Math.min(ax, bx),
      right: Math.max(ax, bx),
      top: Math.min(ay, by),
      bottom: Math.max(ay, by),
    })
    if (areas.length >= MAX_LINKS) break
  }
  return areas
}

/** A link may cover a part of a line: its words are those whose middle lies in its area, as far as widths are known. */
function splitAtLinks(fragment: Fragment, links: readonly LinkArea[]): Fragment[] {
  const { text, x, y, width, size, isRtl } = fragment
  const middle = y - size * 0.3
  const over = links.filter(
    ({ left, right, top, bottom }) => top <= middle && bottom >= middle && left < x + width && right > x,
  )
  if (over.length === 0) return [fragment]
  const hrefAt = (at: number) => over.find(({ left, right }) => left <= at && right >= at)?.href
  const each = width / text.length
  const parts: Fragment[] = []
  for (const { 0: word, index } of text.matchAll(/\s*\S+\s*$|\s*\S+/g)) {
    const from = isRtl ? x + width - (index + word.length) * each : x + index * each
    const href = hrefAt(from + (word.length * each) / 2)
    const last = parts.at(-1)
    if (last && last.href === href)
      parts[parts.length - 1] = {
        ...last,
        text: last.text + word,
        x: Math.min(last.x, from),
        width: last.width + word.length * each,
      }
    else parts.push({ ...fragment, text: word, x: from, width: word.length * each, href })
  }
  return parts
}

function multiply(one: Matrix, other: Matrix): Matrix {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = one
  const [g = 0, h = 0, i = 0, j = 0, k = 0, l = 0] = other
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f]
}
