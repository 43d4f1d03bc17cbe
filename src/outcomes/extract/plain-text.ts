// Plain text -> normalised document: paragraphs apart by blank lines, nothing taken for markup.
import type { PageInput } from '../reading.ts'
import { emptyDocument } from './empty.ts'
import { detectLanguage } from './language.ts'
import { PAGE_LIMITS } from './limits.ts'
import { toMarkdown } from './markdown.ts'
import type { PageReading } from '../reading.ts'
import { cleanText, countWords, cutText } from './text.ts'
import { findTextWarnings } from './warnings.ts'

/** A plain text as a document of paragraphs. */
export function readPlainText(
  source: string,
  { contentLanguage }: Pick<PageInput, 'contentLanguage'>,
): PageReading | { reason: 'no_content'; detail: string } {
  const paragraphs = cleanText(source)
    .split(/\n[^\S\n]*\n\s*/)
    .map((paragraph) =>
      paragraph
        .split('\n')
        .map((line) => line.replace(/[^\S\n]+/g, ' ').trim())
        .join('\n')
        .trim(),
    )
    .filter((paragraph) => paragraph !== '')
  if (paragraphs.length === 0)
    return { reason: 'no_content', detail: 'The source holds no readable character. Send another address.' }
  const truncated: string[] = []
  const cut = (what: string, text: string) => {
    if (text.length > PAGE_LIMITS.textCharacters) truncated.push(what)
    return cutText(text, PAGE_LIMITS.textCharacters).trimEnd()
  }
  const text = cut('text', paragraphs.join('\n\n'))
  const blocks = text.split('\n\n').map((paragraph) => ({
    kind: 'paragraph' as const,
    runs: [{ text: paragraph, href: undefined, strong: false, emphasis: false, code: false }],
  }))
  return {
    document: {
      ...emptyDocument(),
      ...detectLanguage({ declared: [[contentLanguage, 'header']], text }),
      text,
      markdown: cut(
        'markdown',
        toMarkdown(blocks, () => undefined),
      ),
      word_count: countWords(text),
    },
    mode: 'text',
    truncated,
    warnings: findTextWarnings(source, text),
  }
}
