// Finds what stands between equal parts of which text was chosen: the third of five people of a board is as much content as the others.
import type { Block } from './blocks.ts'
import type { Element } from './tree.ts'

/** A person, a fact or a step is a few elements deep. */
const MAX_LEVELS = 3

interface Ends {
  first: number
  last: number
}

/** @param chosen what is in the text already */
export function createBetween(chosen: readonly Block[]): (block: Block) => boolean {
  const ends = new Map<Element, Map<string, Ends>>()
  for (const { at } of chosen)
    for (const [part, parent, look] of partsAround(at)) {
      const looks = ends.get(parent) ?? new Map<string, Ends>()
      ends.set(parent, looks)
      const known = looks.get(look)
      if (!known) looks.set(look, { first: part.start, last: part.start })
      else {
        known.first = Math.min(known.first, part.start)
        known.last = Math.max(known.last, part.start)
      }
    }
  return ({ at }) =>
    partsAround(at).some(([part, parent, look]) => {
      const known = ends.get(parent)?.get(look)
      return known !== undefined && part.start > known.first && part.start < known.last
    })
}

/** An element and those around it that have a class, each with its parent and its class. */
function partsAround(element: Element | undefined): [Element, Element, string][] {
  const parts: [Element, Element, string][] = []
  for (let at = element, level = 0; at?.parent && level < MAX_LEVELS; at = at.parent, level++) {
    const look = at.attributes['class']
    if (look === undefined) continue
    parts.push([at, at.parent, `${at.name} ${look}`])
  }
  return parts
}
