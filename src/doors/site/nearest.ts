// What a mistyped address was meant for: the pages whose addresses are a few slips away, or that are named like its last part.
import { distanceWithin } from '../../lib/edit-distance.ts'
import { openLibrary } from './documents.ts'
import type { SiteParts } from './ports.ts'
import { CODES, linkToTool } from './problems.ts'
import { ROUTES } from './routes.ts'

export interface NearPage {
  readonly path: string
  /** Its title in English; undefined where its address says it all. */
  readonly title: string | undefined
}

/** Who sends an address decides how long it is. */
const MAX_LENGTH = 200
const MAX_SHOWN = 5
const MIN_WORD = 3

/** At most five, the nearest first. */
export async function nearestPages(path: string, { registry }: SiteParts): Promise<readonly NearPage[]> {
  const wanted = plain(path.slice(0, MAX_LENGTH))
  const word = wordOf(wanted)
  const { entries } = await openLibrary()
  const pages: NearPage[] = [
    ...Object.values(ROUTES)
      .filter((route) => !route.path.includes('{'))
      .map((route) => ({ path: route.path, title: undefined })),
    ...registry.tools.map((entry) => linkToTool(entry)),
    ...entries.map(({ slug, title }) => ({ path: `/docs/${slug}`, title })),
    ...CODES.map((code) => ({ path: `/problems/${code}`, title: undefined })),
  ]
  return pages
    .map((page) => ({ page, score: scoreOf(plain(page.path), wanted, word) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.page.path.length - b.page.path.length)
    .slice(0, MAX_SHOWN)
    .map(({ page: { path, title } }) => ({ path, title }))
}

/** Case, language and marks between words are no difference. */
const plain = (path: string) =>
  path
    .toLowerCase()
    .replace(/^\/ar(?=\/|$)/, '')
    .replaceAll(/[-_.+]|%20/g, ' ')
    .replace(/\/$/, '')

const wordOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

function scoreOf(path: string, wanted: string, word: string): number {
  const limit = Math.min(4, Math.max(1, Math.floor(wanted.length / 4)))
  const slips = distanceWithin(limit, path, wanted)
  if (slips <= limit) return 100 - slips
  const own = wordOf(path)
  if (word.length < MIN_WORD || own.length < MIN_WORD) return 0
  const wordSlips = distanceWithin(1 + Math.floor(word.length / 5), own, word)
  if (wordSlips <= 1 + Math.floor(word.length / 5)) return 80 - wordSlips
  if (own.includes(word) || word.includes(own)) return 60
  const words = word.split(' ').filter((part) => part.length >= MIN_WORD)
  const shared = words.filter((part) => own.split(' ').includes(part)).length
  return shared === 0 ? 0 : 40 * (shared / words.length)
}
