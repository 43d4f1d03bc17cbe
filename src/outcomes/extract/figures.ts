// Puts images and rules back between the blocks that were chosen: they have no words by which they could be chosen.
import type { Block, Figure } from './blocks.ts'
import type { Piece } from './markdown.ts'
import type { Element } from './tree.ts'

const MAX_FIGURES = 300

/** The blocks with the figures that stand between them, and with those right before the first and behind the last. */
export function withFigures(blocks: readonly Block[]): Piece[] {
  const pieces: Piece[] = []
  let left = MAX_FIGURES
  let before: Block | undefined
  const add = (figures: readonly Figure[], isWanted: (figure: Figure) => boolean, next?: Block) => {
    for (const figure of figures) {
      if (left <= 0 || !isWanted(figure)) continue
      left--
      // Where the words under it were chosen as a text of their own, they are there already.
      const isSaid = figure.kind === 'image' && next?.at?.name === 'figcaption'
      pieces.push(isSaid ? { ...figure, caption: '' } : figure)
    }
  }
  for (const block of blocks) {
    const { figures, at } = block
    if (figures && figures.before > 0) {
      const last = before?.figures
      if (!before)
        add(figures.all.slice(Math.max(figures.before - 3, 0), figures.before), isBeside(at), block)
      else if (last?.all === figures.all && last.before < figures.before) {
        const isNext = last.block + 1 === figures.block
        // A picture that leads elsewhere, among words that were left out, belongs to those.
        add(
          figures.all.slice(last.before, figures.before),
          (figure) => isNext || !leadsElsewhere(figure),
          block,
        )
      }
    }
    pieces.push(block)
    before = block
  }
  const last = before?.figures
  if (last) add(last.all.slice(last.before, last.before + 3), isBeside(before?.at))
  return pieces
}

const leadsElsewhere = (figure: Figure) =>
  figure.kind === 'image' &&
  figure.href !== undefined &&
  !/\.(?:jpe?g|png|gif|webp|avif|svg)(?:$|\?)/i.test(figure.href)

/** A picture in the same part of the page as the block. */
const isBeside = (at: Element | undefined) => (figure: Figure) => {
  if (figure.kind !== 'image' || leadsElsewhere(figure)) return false
  // The pictures of a product stand in a column of their own beside its name, and that of a report above its text.
  const isApart = isInFigure(figure.at) || (at !== undefined && /^h[12]$/.test(at.name))
  const part = isApart ? (at?.parent?.parent ?? at?.parent) : at?.parent
  return part !== undefined && isWithin(figure.at, part, 3)
}

const isInFigure = (at: Element): boolean => at.name === 'figure' || at.parent?.name === 'figure'

function isWithin(element: Element, around: Element, levels: number): boolean {
  let at: Element | undefined = element
  for (let i = 0; at && i <= levels; i++, at = at.parent) if (at === around) return true
  return false
}
