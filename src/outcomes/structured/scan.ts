// One pass over the tags of a page: everything in it that states products to machines. Nothing is interpreted here.
import { Parser } from 'htmlparser2'
import { attribute } from '../extract/tree.ts'
import { type Annotations, createCollector, microdata, rdfa } from './annotations.ts'
import { boundDepth } from './parser-depth.ts'

export interface PageStatements {
  /** JSON-LD as written. */
  readonly scripts: readonly string[]
  readonly microdata: Annotations
  readonly rdfa: Annotations
  /** First value of each meta tag by its name or property, in lower case. */
  readonly meta: ReadonlyMap<string, string>
  readonly canonical: string | null
  readonly base: string | null
  readonly language: string | null
  readonly title: string | null
  readonly heading: string | null
  readonly truncated: readonly string[]
}

const MAX_SCRIPTS = 200
const MAX_META = 500
const MAX_META_CHARACTERS = 4000
export const MAX_HEADING_CHARACTERS = 500

/** Keeps what a meta tag says under its name or property, where nothing did before. */
export function takeMeta(meta: Map<string, string>, attributes: Readonly<Record<string, string>>): void {
  const content = attribute(attributes, 'content')
  if (content === undefined) return
  for (const key of ['property', 'name']) {
    const called = attribute(attributes, key)?.trim().toLowerCase().slice(0, 100)
    if (!called || meta.has(called)) continue
    if (meta.size < MAX_META) meta.set(called, content.slice(0, MAX_META_CHARACTERS))
  }
}

/** Collects the statements of a page in one pass. */
export function scanPage(html: string): PageStatements {
  const scripts: string[] = []
  const meta = new Map<string, string>()
  const truncated = new Set<string>()
  const micro = createCollector(microdata)
  const lite = createCollector(rdfa)
  let canonical: string | null = null
  let base: string | null = null
  let language: string | null = null
  let title: string | null = null
  let heading: string | null = null
  let depth = 0
  let reading: 'json-ld' | 'title' | 'heading' | 'nothing' | undefined
  let readingDepth = 0
  let pieces: string[] = []

  const finish = () => {
    const text = pieces.join('')
    if (reading === 'json-ld') {
      if (scripts.length < MAX_SCRIPTS) scripts.push(text)
      else truncated.add('json_ld')
    } else if (reading === 'title') title ??= text.slice(0, MAX_HEADING_CHARACTERS)
    else if (reading === 'heading' && text.trim() !== '') heading ??= text.slice(0, MAX_HEADING_CHARACTERS)
    reading = undefined
    pieces = []
  }

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        boundDepth(parser)
        depth++
        switch (name) {
          case 'script':
            start(
              /^\s*application\/ld\+json\b/i.test(attribute(attributes, 'type') ?? '')
                ? 'json-ld'
                : 'nothing',
            )
            return
          case 'style':
            start('nothing')
            return
          case 'title':
            if (title === null && reading === undefined) start('title')
            break
          case 'h1':
            if (heading === null && reading === undefined) start('heading')
            break
          case 'html':
            language ??= attribute(attributes, 'lang') ?? attribute(attributes, 'xml:lang') ?? null
            break
          case 'base':
            base ??= attribute(attributes, 'href') ?? null
            break
          case 'link':
            if (canonical === null && /(?:^|\s)canonical(?:\s|$)/i.test(attribute(attributes, 'rel') ?? ''))
              canonical = attribute(attributes, 'href') ?? null
            break
          case 'meta':
            takeMeta(meta, attributes)
            break
        }
        micro.open(name, attributes, depth)
        lite.open(name, attributes, depth)
      },
      ontext(text) {
        if (reading !== undefined && reading !== 'nothing') pieces.push(text)
        if (reading === 'json-ld' || reading === 'nothing') return
        micro.text(text)
        lite.text(text)
      },
      onclosetag() {
        if (reading !== undefined && depth <= readingDepth) finish()
        micro.close(depth)
        lite.close(depth)
        depth--
      },
    },
    { decodeEntities: true },
  )

  function start(what: NonNullable<typeof reading>) {
    if (reading !== undefined) finish()
    reading = what
    readingDepth = depth
  }

  parser.write(html)
  parser.end()
  const [microItems, rdfaItems] = [micro.end(), lite.end()]
  if (microItems.isCut) truncated.add('microdata')
  if (rdfaItems.isCut) truncated.add('rdfa')
  return {
    scripts,
    microdata: microItems,
    rdfa: rdfaItems,
    meta,
    canonical,
    base,
    language,
    title,
    heading,
    truncated: [...truncated],
  }
}
