// Says how a document was made, so that a buyer can judge it: the words of the whole page, and what of them was taken for boilerplate.
import type { DocumentQuality } from '../../../schemas/document.ts'
import { surroundingsIn, NOWHERE, type Surroundings } from './blocks.ts'
import type { Boilerplate, BoilerplateRules } from './boilerplate.ts'
import { type Element, isPart } from './elements.ts'
import type { ParsedPage } from './tree.ts'

/** Linear in the elements of the page, without recursion; what is in a part of boilerplate belongs to that part. */
export function measureQuality(
  { root }: ParsedPage,
  { mode, words, rules }: { readonly mode: string; readonly words: number; readonly rules: BoilerplateRules },
): DocumentQuality {
  const counts = new Map<Boilerplate, number>()
  const stack: { readonly element: Element; readonly around: Surroundings }[] = [
    { element: root, around: NOWHERE },
  ]
  for (let at = stack.pop(); at; at = stack.pop()) {
    const { element } = at
    const kind = isPart(element) ? rules(element, at.around) : undefined
    if (kind !== undefined) {
      counts.set(kind, (counts.get(kind) ?? 0) + element.words)
      continue
    }
    const around = surroundingsIn(element, at.around)
    for (const child of element.children)
      if (typeof child !== 'string' && child.words > 0) stack.push({ element: child, around })
  }
  return {
    mode,
    words,
    page_words: root.words,
    boilerplate: [...counts]
      .map(([kind, count]) => ({ kind, words: count }))
      .sort((a, b) => (a.kind < b.kind ? -1 : 1)),
  }
}
