// What a mistyped name may have been: one that is near by its letters, else those that share its words.
import { nearestTo } from '../../lib/edit-distance.ts'
import { wordsOf } from '../../lib/search-words.ts'

const MAX_SHOWN = 5
const MAX_WORDS = 8
/** Whoever sends a name decides how long it is. */
const MAX_LENGTH = 80

/** @param known the names there are, each with further words that it goes by */
export function nearestNames(wanted: string, known: ReadonlyMap<string, string>): readonly string[] {
  const given = wanted.slice(0, MAX_LENGTH).toLowerCase()
  const spelt = new Map([...known.keys()].map((name) => [bare(name), name]))
  const near = spelt.get(nearestTo(bare(given), [...spelt.keys()]) ?? '')
  const wordsIn = new Map([...known].map(([name, words]) => [name, new Set(wordsOf(`${name} ${words}`))]))
  const vocabulary = new Set([...wordsIn.values()].flatMap((words) => [...words]))
  const asked = wordsOf(given)
    .slice(0, MAX_WORDS)
    .filter((word) => word !== 'gateway')
    .map((word) => (vocabulary.has(word) ? word : nearestTo(word, [...vocabulary])))
  const shared = [...wordsIn]
    .map(([name, words]) => ({
      name,
      score: asked.filter((word) => word !== undefined && words.has(word)).length,
    }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.name.length - b.name.length)
    .map(({ name }) => name)
  return [...new Set([...(near === undefined ? [] : [near]), ...shared])].slice(0, MAX_SHOWN)
}

/** `gateway.web.fetch`, `gateway_web_fetch`, `web-fetch` and `web fetch` are one. */
const bare = (name: string) => wordsOf(name.replace(/^gateway[._-]/, '')).join('.')
