// What pages say about themselves: title, authors and date of publication against the labels of the extraction corpus, or of pages
// of your own (`--corpus DIR`, laid out as corpora.ts says; a label is the member `title`, `author` or `publish_date` of
// `ground_truth`). Site names and languages have no labels: for them it counts how many pages have one. A third of the pages
// was kept out while the rules were made. `node bench/metadata.ts [--corpus DIR] [--failures]`
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { ExtractedDocument } from '../schemas/document.ts'
import { readPage } from '../src/outcomes/extract/page.ts'
import { findData, isHeldOut } from './corpora.ts'
import { printTable } from './support.ts'

type Label = Partial<Record<'title' | 'author' | 'publish_date', string | null>>
const TARGET = { authorRight: 0.72, authorWrong: 0.06 }

const data = findData()
const folder = data === undefined ? undefined : join(data, 'extraction/wcxb-dev')
if (folder === undefined || !existsSync(folder)) {
  console.log('no data: set GATEWAY_BENCH_DATA to the folder that holds `extraction`')
  process.exit(0)
}

const fold = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')
/** Labels of titles come with and without the name of the site. */
const isTitle = (given: string, label: string) => {
  const [one, other] = [fold(given), fold(label)]
  return (
    one === other || (Math.min(one.length, other.length) >= 8 && (one.includes(other) || other.includes(one)))
  )
}
/** All names of the label and no others, in any order. */
const isAuthor = (given: string, label: string) => {
  const names = (text: string) =>
    text
      .replace(/^by\s+/i, '')
      .split(/\s*,\s*|\s+(?:and|&|with)\s+/)
      .map(fold)
      .sort()
      .join()
  return names(given) === names(label)
}

interface Field {
  readonly name: string
  label(label: Label): string | null | undefined
  given(document: ExtractedDocument): string | null
  isRight(given: string, label: string): boolean
}
const FIELDS: readonly Field[] = [
  { name: 'title', label: ({ title }) => title, given: ({ title }) => title, isRight: isTitle },
  { name: 'author', label: ({ author }) => author, given: ({ byline }) => byline, isRight: isAuthor },
  {
    name: 'published',
    label: ({ publish_date }) => publish_date,
    given: ({ published_time }) => published_time,
    isRight: (given, label) => given.slice(0, 10) === label.slice(0, 10),
  },
]

const tally = () => ({ labels: 0, right: 0, wrong: 0, unlabelled: 0 })
const parts = ['tuned', 'held out', 'all'] as const
const counts = new Map(
  FIELDS.map(({ name }) => [name, { tuned: tally(), 'held out': tally(), all: tally() }]),
)
const failures: string[] = []
let [pages, sites, languages] = [0, 0, 0]
for (const file of readdirSync(join(folder, 'ground-truth')).sort()) {
  const name = file.replace(/\.json$/, '')
  const { url, ground_truth: label } = JSON.parse(
    readFileSync(join(folder, 'ground-truth', file), 'utf8'),
  ) as { url: string; ground_truth: Label }
  const body = gunzipSync(readFileSync(join(folder, 'html', `${name}.html.gz`)))
  const reading = readPage({ body, isCut: false, contentType: 'text/html', contentLanguage: null, url })
  pages++
  const document = reading.ok ? reading.value.document : undefined
  if (document?.site_name) sites++
  if (document?.language) languages++
  const part = isHeldOut(name) ? 'held out' : 'tuned'
  for (const field of FIELDS) {
    const wanted = field.label(label)
    const given = document === undefined ? null : field.given(document)
    const isRight = !!wanted && given !== null && field.isRight(given, wanted)
    for (const count of [counts.get(field.name)![part], counts.get(field.name)!.all]) {
      if (!wanted) count.unlabelled += given === null ? 0 : 1
      else {
        count.labels++
        if (isRight) count.right++
        else if (given !== null) count.wrong++
      }
    }
    if (!isRight && part === 'tuned' && (wanted || given !== null))
      failures.push(`${name} ${field.name}: ${given ?? '-'}, label ${wanted ?? '-'}`)
  }
}

const share = (count: number, of: number) => `${((100 * count) / of).toFixed(1)} %`
printTable(
  `${pages} pages: ${sites} with the name of a site, ${languages} with a language`,
  ['field', 'pages', 'labels', 'right', 'wrong', 'missing', 'given without a label'],
  FIELDS.flatMap(({ name }) =>
    parts.map((part) => {
      const { labels, right, wrong, unlabelled } = counts.get(name)![part]
      return [
        name,
        part,
        labels,
        share(right, labels),
        share(wrong, labels),
        share(labels - right - wrong, labels),
        unlabelled,
      ]
    }),
  ),
)
// Pages to look at while rules are made; those that are kept out are never printed.
if (process.argv.includes('--failures')) for (const failure of failures) console.log(failure)
const { labels, right, wrong } = counts.get('author')!.all
const isGood = right / labels >= TARGET.authorRight && wrong / labels <= TARGET.authorWrong
console.log(
  `\nauthors right on ${share(right, labels)} (target ${share(TARGET.authorRight, 1)}), wrong on ${share(wrong, labels)} ` +
    `(target ${share(TARGET.authorWrong, 1)}): ${isGood ? 'met' : 'MISSED'}`,
)
if (!isGood) process.exitCode = 1
