// A document that says nothing, for forms that have no metadata of their own.
import type { ExtractedDocument } from '../../../schemas/document.ts'

/** A document in which nothing was found. */
export const emptyDocument = (): ExtractedDocument => ({
  title: null,
  byline: null,
  authors: [],
  site_name: null,
  language: null,
  language_source: null,
  description: null,
  canonical_url: null,
  published_time: null,
  modified_time: null,
  headings: [],
  text: '',
  markdown: '',
  word_count: 0,
  links: [],
  tables: [],
  structured_data: { types: [], products: [], invalid_scripts: 0 },
})
