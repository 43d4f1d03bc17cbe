// What changed, and when.
import { Document } from '../components/document.tsx'
import { parseMarkdown } from '../components/markdown/parse.ts'
import { openLibrary, withWholeLinks } from '../documents.ts'
import { definePage } from '../ports.ts'
import { docsTexts } from '../texts/docs.ts'

const SOURCE = 'CHANGELOG.md'

export const page = definePage({
  isFixed: true,
  isWide: true,
  async load() {
    const { entries: guides, read } = await openLibrary()
    return { title: 'Changelog', markdown: await read('changelog'), guides }
  },
  toMarkdown: ({ markdown, guides }, { siteUrl }) => withWholeLinks(markdown, SOURCE, guides, siteUrl),
  title: (_data, { language }) => docsTexts[language].changelog,
  View: ({ data: { markdown, guides }, page }) => (
    <Document page={page} tree={parseMarkdown(markdown, 'own')} source={SOURCE} entries={guides} />
  ),
})
