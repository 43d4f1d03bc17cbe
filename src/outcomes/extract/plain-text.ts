// Plain text -> normalised document: paragraphs apart by blank lines, nothing taken for markup, unless the source says that it is Markdown.
import { parseContentType } from '../../outbound/media-type.ts'
import type { PageInput } from '../reading.ts'
import type { Block } from './blocks.ts'
import { emptyDocument } from './empty.ts'
import { detectLanguage } from './language.ts'
import { PAGE_LIMITS } from './limits.ts'
import { headingsOf, isMarkdown, linksOf, readMarkdownSource } from './markdown-source.ts'
import type { PageReading } from '../reading.ts'
import { cleanText, countWords } from './text.ts'
import { findTextWarnings } from './warnings.ts'
import { writeDocument } from './written.ts'

/** A plain text as a document of paragraphs, and Markdown as it is written. */
export function readPlainText(
  source: string,
  { contentLanguage, contentType, url, start = 0 }: Omit<PageInput, 'body' | 'isCut'>,
): PageReading | { reason: 'no_content'; detail: string } {
  const cleaned = cleanText(source)
  const markdown = isMarkdown(parseContentType(contentType ?? undefined).essence)
    ? readMarkdownSource(cleaned)
    : undefined
  const blocks = markdown?.blocks ?? paragraphsOf(cleaned)
  if (blocks.length === 0)
    return { reason: 'no_content', detail: 'The source holds no readable character. Send another address.' }
  const { document, cuts, truncated } = writeDocument(
    blocks,
    { start, maxCharacters: PAGE_LIMITS.textCharacters },
    { resolve: () => undefined, keepsBreaks: false },
  )
  const { text } = document
  const links = markdown ? linksOf(text, url) : []
  const headings = headingsOf(blocks)
  return {
    document: {
      ...emptyDocument(),
      ...detectLanguage({ declared: [[contentLanguage, 'header']], text }),
      ...document,
      title: markdown?.title ?? null,
      headings: headings.slice(0, PAGE_LIMITS.headings),
      links: links.slice(0, PAGE_LIMITS.links),
      word_count: countWords(text),
    },
    cuts,
    mode: 'text',
    truncated: [
      ...truncated,
      ...(headings.length > PAGE_LIMITS.headings ? ['headings'] : []),
      ...(links.length > PAGE_LIMITS.links ? ['links'] : []),
    ].sort(),
    warnings: findTextWarnings(source, cleaned),
  }
}

const paragraphsOf = (text: string): Block[] =>
  text
    .split(/\n[^\S\n]*\n\s*/)
    .map((paragraph) =>
      paragraph
        .split('\n')
        .map((line) => line.replace(/[^\S\n]+/g, ' ').trim())
        .join('\n')
        .trim(),
    )
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => ({
      kind: 'paragraph',
      runs: [{ text: paragraph, href: undefined, strong: false, emphasis: false, code: false }],
    }))
