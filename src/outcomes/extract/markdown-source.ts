// Reads a source that is Markdown already: it passes as it is written, and its headings, title and links are found in it.
import type { ExtractedDocument } from '../../../schemas/document.ts'
import type { Block } from './blocks.ts'
import { MAX_LABEL_CHARACTERS, PAGE_LIMITS } from './limits.ts'
import { resolveLink } from './links.ts'
import { collapseSpaces, cutText } from './text.ts'

const TYPES = new Set(['text/markdown', 'text/x-markdown'])
const FENCE = /^ {0,3}(`{3,}|~{3,})/
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*)$/
const LINK =
  /(?<!!)\[([^[\]\n]{0,300})\]\(\s{0,4}<?([^\s<>()]{1,2048})>?(?:\s{1,4}"[^"\n]{0,300}")?\s{0,4}\)|<(https?:\/\/[^\s<>]{1,2048})>/g

export const isMarkdown = (essence: string): boolean => TYPES.has(essence)

export interface MarkdownSource {
  readonly blocks: readonly Block[]
  readonly title: string | null
}

/** @param source cleaned */
export function readMarkdownSource(source: string): MarkdownSource {
  const { title, body } = readFrontMatter(source)
  const blocks: Block[] = []
  let lines: string[] = []
  let fence: string | undefined
  const flush = () => {
    const text = lines.join('\n').trimEnd()
    lines = []
    if (text.trim() !== '') blocks.push({ kind: 'source', text })
  }
  for (const line of body.split('\n')) {
    const mark = FENCE.exec(line)?.[1]
    if (mark !== undefined && fence === undefined) fence = mark
    else if (mark !== undefined && fence !== undefined && mark.startsWith(fence) && line.trim() === mark)
      fence = undefined
    if (line.trim() === '' && fence === undefined) flush()
    else lines.push(line.trimEnd())
  }
  flush()
  return { blocks, title: title ?? headingsOf(blocks)[0]?.text ?? null }
}

/** Lines of hashes outside code, and lines with a line under them. */
export function headingsOf(blocks: readonly Block[]): ExtractedDocument['headings'] {
  const headings: ExtractedDocument['headings'] = []
  for (const block of blocks) {
    if (block.kind !== 'source' || FENCE.test(block.text)) continue
    const [first = '', second = ''] = block.text.split('\n', 2)
    const [, hashes, words = ''] = HEADING.exec(first) ?? []
    const under = /^ {0,3}(=+|-{2,})\s*$/.exec(second)?.[1]
    const level = hashes?.length ?? (under === undefined ? undefined : under.startsWith('=') ? 1 : 2)
    if (level === undefined) continue
    const text = collapseSpaces((hashes === undefined ? first : words).replace(/\s#+\s*$/, ''))
    if (text !== '') headings.push({ level, text: cutText(text, MAX_LABEL_CHARACTERS) })
  }
  return headings
}

/** Every address once; one past the limit where there are more. */
export function linksOf(text: string, base: string | undefined): ExtractedDocument['links'] {
  const found = new Map<string, ExtractedDocument['links'][number]>()
  for (const [, label = '', href, bare] of text.matchAll(LINK)) {
    const link = resolveLink(href ?? bare ?? '', base)
    if (link && !found.has(link.url))
      found.set(link.url, { ...link, text: collapseSpaces(label), in_text: true })
    if (found.size > PAGE_LIMITS.links) break
  }
  return [...found.values()]
}

/** Settings of a site generator at the very top: only their title is of use. */
function readFrontMatter(source: string): { title: string | null; body: string } {
  const matter = /^---\n([^]{0,8192}?)\n---\n/.exec(source)
  if (!matter) return { title: null, body: source }
  const written = /^title:[ \t]*(.+)$/m
    .exec(matter[1] ?? '')?.[1]
    ?.trim()
    .replace(/^(["'])(.*)\1$/, '$2')
  return {
    title: written ? cutText(collapseSpaces(written), MAX_LABEL_CHARACTERS) : null,
    body: source.slice(matter[0].length),
  }
}
