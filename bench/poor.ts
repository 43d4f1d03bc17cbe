// Pages that are none, told from ordinary ones: the labelled set of test/data/outcomes/poor, and the corpora of extraction as further ordinary
// pages (`--corpus DIR`, see corpora.ts). A third of both was held out while the rules were made. `node bench/poor.ts [--corpus DIR]`
import { readPage } from '../src/outcomes/extract/page.ts'
import { LABELLED_ADDRESS, readLabelledPages } from '../test/support/poor-pages.ts'
import { findData, listPages } from './corpora.ts'
import { printTable } from './support.ts'

const refusalOf = (body: Buffer, url: string): string | undefined => {
  const reading = readPage({ body, isCut: false, contentType: 'text/html', contentLanguage: null, url })
  return reading.ok ? undefined : reading.reason
}

const read = (set?: Parameters<typeof readLabelledPages>[0]) =>
  readLabelledPages(set).map((page) => ({
    ...page,
    refusal: refusalOf(Buffer.from(page.html), LABELLED_ADDRESS),
  }))
const labelled = read()
const rows = [
  ['seen', labelled.filter(({ isHeldOut }) => !isHeldOut)] as const,
  ['held out', labelled.filter(({ isHeldOut }) => isHeldOut)] as const,
  ['in wordings of no rule', read('poor-at-first-sight')] as const,
].map(([name, part]) => {
  const poor = part.filter(({ label }) => label !== 'ordinary')
  const refused = part.filter(({ refusal }) => refusal !== undefined)
  const right = refused.filter(({ label }) => label !== 'ordinary')
  const named = right.filter(({ label, refusal }) => label === refusal)
  return [
    name,
    String(poor.length),
    String(part.length - poor.length),
    (right.length / refused.length).toFixed(3),
    (right.length / poor.length).toFixed(3),
    (named.length / right.length).toFixed(3),
  ]
})
printTable(
  'Pages that are none',
  ['labelled pages', 'poor', 'ordinary', 'precision', 'recall', 'right reason'],
  rows,
)

const data = findData()
const corpus = data === undefined ? [] : listPages(data)
if (corpus.length > 0) {
  const refused = corpus.flatMap((page) => {
    const refusal = refusalOf(page.read(), page.url)
    if (refusal === undefined) return []
    // A page that is held out is counted, and not named.
    return [[page.isHeldOut ? '(held out)' : page.name.slice(0, 12), page.type, refusal]]
  })
  printTable(
    `Of ${corpus.length} pages of the corpora, refused: ${refused.length}`,
    ['page', 'type', 'reason'],
    refused,
  )
}
