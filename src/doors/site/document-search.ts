// Search over the written documents: a section is found by its words, and shown by its sentence that has most of them.
import { indexDocuments, type SearchIndex } from '../../lib/text-search.ts'
import { queryWords, wordsOf } from '../../lib/search-words.ts'
import { parseMarkdown } from './components/markdown/parse.ts'
import { type MarkdownNode, wordsOf as textOf } from './components/markdown/node.ts'
import { headingId } from './components/markdown/tree.tsx'
import type { Library } from './documents.ts'

export interface DocumentHit {
  /** Path of the section on the site. */
  readonly path: string
  readonly title: string
  /** Heading of the section; undefined above the first one. */
  readonly heading: string | undefined
  readonly sentence: string
}

interface Section extends Omit<DocumentHit, 'sentence'> {
  readonly texts: readonly string[]
  /** Commands and programs: they are searched, and are no sentences. */
  readonly code: string
}

const MOST_HITS = 12
const MAX_QUERY = 200
const MAX_SENTENCE = 240
const WEIGHTS = { title: 8, heading: 6, text: 2, code: 1 } as const

interface Searcher {
  readonly sections: readonly Section[]
  readonly index: SearchIndex
}

let made: Promise<Searcher> | undefined

/** The best sections for a query, most of its words first. The first search reads all documents once. */
export async function searchDocuments(library: Library, query: string): Promise<readonly DocumentHit[]> {
  made ??= read(library)
  made.catch(() => (made = undefined))
  const { sections, index } = await made
  const words = queryWords(query.slice(0, MAX_QUERY))
  return index
    .find(query.slice(0, MAX_QUERY))
    .toSorted((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, MOST_HITS)
    .flatMap(({ at }) => {
      const section = sections[at]
      if (!section) return []
      const { texts, code: _code, ...place } = section
      return [{ ...place, sentence: sentenceOf(texts, words) }]
    })
}

async function read(library: Library): Promise<Searcher> {
  const sections = (
    await Promise.all(
      library.entries.map(async (entry) =>
        sectionsOf(entry, parseMarkdown(await library.read(entry.slug), 'own').nodes),
      ),
    )
  ).flat()
  return { sections, index: await indexDocuments(sections.map(weigh)) }
}

function sectionsOf(
  { slug, title }: { readonly slug: string; readonly title: string },
  nodes: readonly MarkdownNode[],
): Section[] {
  const sections: { heading: string | undefined; texts: string[]; code: string }[] = []
  const begin = (heading: string | undefined) => {
    const begun = { heading, texts: [] as string[], code: '' }
    sections.push(begun)
    return begun
  }
  let section = begin(undefined)
  for (const node of nodes) {
    if (typeof node === 'string' || (node.tag === 'h' && node.level === 1)) continue
    if (node.tag === 'h') section = begin(textOf(node))
    else if (node.tag === 'pre') section.code += `${textOf(node)}\n`
    else section.texts.push(...blocksOf(node))
  }
  return sections
    .filter(({ heading, texts, code }) => heading !== undefined || texts.length > 0 || code !== '')
    .map(({ heading, texts, code }) => ({
      path: heading === undefined ? `/docs/${slug}` : `/docs/${slug}#${headingId(heading)}`,
      title,
      heading,
      texts,
      code,
    }))
}

/** A row of a table and an item of a list are found by themselves. */
function blocksOf(node: MarkdownNode): string[] {
  if (typeof node === 'string') return [node]
  if (node.tag === 'tr') return [node.children.map(textOf).join(' · ')]
  if (['table', 'thead', 'tbody', 'ul', 'ol', 'blockquote'].includes(node.tag))
    return node.children.flatMap(blocksOf)
  return [textOf(node)]
}

function weigh({ title, heading = '', texts, code }: Section): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  const add = (text: string, weight: number) => {
    for (const word of wordsOf(text)) if (!weights.has(word)) weights.set(word, weight)
  }
  add(heading, WEIGHTS.heading)
  add(title, WEIGHTS.title)
  for (const text of texts) add(text, WEIGHTS.text)
  add(code, WEIGHTS.code)
  return weights
}

/** The sentence with most words of the query; the first one where none has any. */
function sentenceOf(texts: readonly string[], words: readonly string[]): string {
  let [best = '', most] = [texts[0]?.split(SENTENCE_END)[0], 0]
  for (const sentence of texts.flatMap((text) => text.split(SENTENCE_END))) {
    const theirs = new Set(wordsOf(sentence))
    const count = words.filter(
      (word) => theirs.has(word) || [...theirs].some((other) => other.startsWith(word)),
    ).length
    if (count > most) [best, most] = [sentence, count]
  }
  const line = best.replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_SENTENCE ? `${line.slice(0, MAX_SENTENCE)}…` : line
}

const SENTENCE_END = /(?<=[.:?])\s+(?=\p{Lu})/u
