// One written document.
import { Document } from '../components/document.tsx'
import { parseMarkdown } from '../components/markdown/parse.ts'
import { openLibrary, withAddress, withWholeLinks } from '../documents.ts'
import { definePage } from '../ports.ts'

export const page = definePage({
  isFixed: true,
  isWide: true,
  async load({ site, params }) {
    const { entries: guides, read } = await openLibrary()
    const entry = guides.find(({ slug }) => slug === params['guide'])
    if (!entry) return undefined
    const markdown = withAddress(await read(entry.slug), entry, site.addresses)
    return { ...entry, markdown, guides }
  },
  toMarkdown: ({ markdown, source, guides }, { siteUrl }) =>
    withWholeLinks(markdown, source, guides, siteUrl),
  title: ({ title }) => title,
  description: ({ summary, title }) => summary || title,
  View: ({ data: { slug, source, markdown, guides }, page }) => (
    <Document
      page={page}
      tree={parseMarkdown(markdown, 'own')}
      source={source}
      entries={guides}
      current={guides.find((guide) => guide.slug === slug)}
    />
  ),
})
