// The corpora of benchmarks: where they are, which third of their pages nobody looks at while rules are made, and for
// main-content extraction how each is scored. Pages of your own are scored with `--corpus DIR`, where DIR has this layout:
//   extraction/wcxb-dev/{ground-truth/NAME.json, html/NAME.html.gz}           `url`, `ground_truth.main_content`, page type
//   extraction/article-benchmark/{ground-truth.json, html/NAME.html.gz}       NAME to `url` and `articleBody`
//   products/{ground-truth.json, html/NAME.html.gz}, feeds/                   see products.ts and feeds.ts
// What is not there is not measured.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

export interface Page {
  readonly name: string
  readonly corpus: 'wcxb' | 'articles'
  /** Page type of WCXB; `news` for the article benchmark. */
  readonly type: string
  readonly url: string
  readonly truth: string
  /** Kept out while the rules were made. */
  readonly isHeldOut: boolean
  read(): Buffer
}

export interface Score {
  readonly precision: number
  readonly recall: number
  readonly f1: number
}

const PROJECT = new URL('..', import.meta.url).pathname

/**
 * The folder of `--corpus DIR`, of GATEWAY_BENCH_DATA, or beside the project. Undefined where there is none on this machine.
 * @throws when a folder was asked for that does not exist: nobody should take figures of other pages for those of their own
 */
export function findData(): string | undefined {
  const at = process.argv.indexOf('--corpus')
  if (at !== -1) {
    const folder = process.argv[at + 1]
    if (folder === undefined || !existsSync(folder)) throw new Error(`--corpus: no folder ${folder ?? ''}`)
    return folder
  }
  const folder = process.env['GATEWAY_BENCH_DATA'] ?? join(PROJECT, '../shared/data')
  return existsSync(folder) ? folder : undefined
}

/** A third, by the name of the file and nothing else. */
export const isHeldOut = (name: string) => createHash('sha256').update(name).digest()[0]! % 3 === 0

/** The pages of both corpora of extraction; none of a corpus that is not there. */
export function listPages(data: string): Page[] {
  const wcxb = join(data, 'extraction/wcxb-dev')
  const articles = join(data, 'extraction/article-benchmark')
  const readPage = (folder: string, name: string) => () =>
    gunzipSync(readFileSync(join(folder, 'html', `${name}.html.gz`)))
  const truthFile = join(articles, 'ground-truth.json')
  const truths = (existsSync(truthFile) ? JSON.parse(readFileSync(truthFile, 'utf8')) : {}) as Record<
    string,
    { articleBody: string; url: string }
  >
  const labels = join(wcxb, 'ground-truth')
  return [
    ...(existsSync(labels) ? readdirSync(labels) : [])
      .filter((file) => file.endsWith('.json'))
      .sort()
      .map((file): Page => {
        const name = file.slice(0, -'.json'.length)
        const label = JSON.parse(readFileSync(join(labels, file), 'utf8'))
        const type = label._internal?.page_type?.primary ?? 'unknown'
        const { main_content: truth = '' } = label.ground_truth
        return {
          name,
          corpus: 'wcxb',
          type,
          url: label.url,
          truth,
          isHeldOut: isHeldOut(name),
          read: readPage(wcxb, name),
        }
      }),
    ...Object.entries(truths).map(([name, { articleBody, url }]): Page => ({
      name,
      corpus: 'articles',
      type: 'news',
      url,
      truth: articleBody,
      isHeldOut: isHeldOut(name),
      read: readPage(articles, name),
    })),
  ]
}

const tokensOf = (text: string): string[] => text.match(/[\p{L}\p{N}_]+/gu) ?? []

function shinglesOf(text: string): string[] {
  const tokens = tokensOf(text)
  return Array.from({ length: Math.max(1, tokens.length - 3) }, (_, i) => tokens.slice(i, i + 4).join(' '))
}

/** Words in any order for WCXB, runs of four words for the article benchmark: each corpus by its own rule. */
export function scorePage(page: Page, text: string): Score {
  const units =
    page.corpus === 'wcxb'
      ? (words: string) => tokensOf(words.toLowerCase())
      : (words: string) => shinglesOf(words)
  const left = new Map<string, number>()
  const wanted = units(page.truth)
  const given = units(text)
  for (const unit of wanted) left.set(unit, (left.get(unit) ?? 0) + 1)
  let hits = 0
  for (const unit of given) {
    const count = left.get(unit) ?? 0
    if (count === 0) continue
    left.set(unit, count - 1)
    hits++
  }
  if (wanted.length === 0 && given.length === 0) return { precision: 1, recall: 1, f1: 1 }
  const precision = given.length === 0 ? 0 : hits / given.length
  const recall = wanted.length === 0 ? 0 : hits / wanted.length
  return { precision, recall, f1: hits === 0 ? 0 : (2 * precision * recall) / (precision + recall) }
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/** Mean over pages; the F1 of the article benchmark is that of the means, as its authors compute it. */
export function meanScore(corpus: Page['corpus'], scores: readonly Score[]): Score {
  const precision = mean(scores.map((score) => score.precision))
  const recall = mean(scores.map((score) => score.recall))
  const f1 =
    corpus === 'wcxb'
      ? mean(scores.map((score) => score.f1))
      : (2 * precision * recall) / (precision + recall)
  return { precision, recall, f1 }
}
