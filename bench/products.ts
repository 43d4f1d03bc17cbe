// Price, article number and availability of the product of a page, read out of what shops state in a structured form,
// against labels made by people in `<data>/products`. A third of the pages, chosen by the hash of the name, is kept out of
// tuning. `node bench/products.ts [--corpus DIR] [--failures]`
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { readProducts } from '../src/outcomes/products/page.ts'
import { compareAmounts } from '../src/outcomes/products/money.ts'
import { findData, isHeldOut } from './corpora.ts'
import { percentile, printTable } from './support.ts'

type Attribute = 'price' | 'sku' | 'availability'
type Label = Partial<Record<Attribute, readonly string[]>> & { readonly url: string }

const ATTRIBUTES: readonly Attribute[] = ['price', 'sku', 'availability']
const TARGET = { f1: 0.72, goal: 0.8, precision: 0.9, cpuMs: 12 }
const ROUNDS = 5

interface Page {
  readonly name: string
  readonly label: Label
  readonly body: Buffer
  readonly isHeldOut: boolean
}

const data = findData()
const folder = data === undefined ? undefined : join(data, 'products')
if (folder === undefined || !existsSync(folder)) {
  console.log('no data: set GATEWAY_BENCH_DATA to the folder that holds `products`')
  process.exit(0)
}
const labels = JSON.parse(readFileSync(join(folder, 'ground-truth.json'), 'utf8')) as Record<string, Label>
const pages: Page[] = Object.entries(labels).map(([name, label]) => ({
  name,
  label,
  body: gunzipSync(readFileSync(join(folder, 'html', `${name}.html.gz`))),
  isHeldOut: isHeldOut(name),
}))

const read = ({ body, label }: Page) =>
  readProducts({ body, isCut: false, contentType: 'text/html', contentLanguage: null, url: label.url })

/** One value for each attribute: of the page's main product, and of the offer that speaks for it. */
function valuesOf(page: Page): Partial<Record<Attribute, string>> {
  const reading = read(page)
  const [product] = reading.ok ? reading.value.products : []
  if (!product) return {}
  const offer = product.offers[product.main_offer ?? 0]
  const price = (offer?.price ?? offer?.low_price)?.amount
  const sku = product.identifiers.find(({ kind }) => kind === 'sku' || kind === 'product_id')?.value
  const stock = offer?.availability
  return {
    ...(price === undefined ? {} : { price }),
    ...(sku === undefined ? {} : { sku }),
    ...(stock
      ? { availability: /OutOfStock|SoldOut|Discontinued/.test(stock) ? 'OutOfStock' : 'InStock' }
      : {}),
  }
}

const DECIMAL = /^\s*(\d+(?:\.\d+)?)\s*$/

function isRight(attribute: Attribute, value: string, wanted: readonly string[]): boolean {
  return wanted.some((label) => {
    if (attribute !== 'price') return label.trim().toLowerCase() === value.trim().toLowerCase()
    const amount = DECIMAL.exec(label)?.[1]
    return amount !== undefined && compareAmounts(amount, value) === 0
  })
}

interface Tally {
  right: number
  given: number
  wanted: number
}

const tally = (): Record<Attribute, Tally> => ({
  price: { right: 0, given: 0, wanted: 0 },
  sku: { right: 0, given: 0, wanted: 0 },
  availability: { right: 0, given: 0, wanted: 0 },
})
const parts = { tuned: tally(), 'held out': tally(), all: tally() }
const failures: string[] = []
let withProduct = 0
const syntaxes = new Map<string, number>()
for (const page of pages) {
  const reading = read(page)
  if (reading.ok) {
    withProduct++
    const syntax = reading.value.products[0]!.stated_in
    syntaxes.set(syntax, (syntaxes.get(syntax) ?? 0) + 1)
  }
  const values = valuesOf(page)
  for (const attribute of ATTRIBUTES) {
    const [wanted, given] = [page.label[attribute], values[attribute]]
    const right = wanted !== undefined && given !== undefined && isRight(attribute, given, wanted)
    for (const part of [parts.all, page.isHeldOut ? parts['held out'] : parts.tuned]) {
      if (wanted) part[attribute].wanted++
      if (given !== undefined) part[attribute].given++
      if (right) part[attribute].right++
    }
    // Whoever reads the failures of pages that are kept out of tuning has tuned to them.
    if (!right && !page.isHeldOut && (wanted || given !== undefined))
      failures.push(
        `${page.name.slice(0, 8)} ${attribute}: ${given ?? '-'}, label ${wanted?.join(' | ') ?? '-'}`,
      )
  }
}

const scoreOf = ({ right, given, wanted }: Tally) => {
  const precision = right / given
  const recall = right / wanted
  return { precision, recall, f1: right === 0 ? 0 : (2 * precision * recall) / (precision + recall) }
}
const figure = (value: number) => value.toFixed(3)

printTable(
  `${pages.length} shop pages, ${withProduct} with a product (${[...syntaxes].map(([name, count]) => `${name} ${count}`).join(', ')})`,
  ['attribute', 'pages', 'labels', 'precision', 'recall', 'F1'],
  ATTRIBUTES.flatMap((attribute) =>
    Object.entries(parts).map(([name, part]) => {
      const { precision, recall, f1 } = scoreOf(part[attribute])
      return [attribute, name, part[attribute].wanted, figure(precision), figure(recall), figure(f1)]
    }),
  ),
)
if (process.argv.includes('--failures')) for (const failure of failures) console.log(failure)

const cpu = pages.map(() => 0)
for (let round = -1; round < ROUNDS; round++)
  for (const [at, page] of pages.entries()) {
    const before = process.cpuUsage()
    read(page)
    const { user, system } = process.cpuUsage(before)
    // The first round is for the compiler.
    if (round >= 0) cpu[at]! += (user + system) / 1000 / ROUNDS
  }
const sorted = cpu.toSorted((a, b) => a - b)
const meanMs = cpu.reduce((sum, ms) => sum + ms, 0) / cpu.length
const megabytes = pages.reduce((sum, { body }) => sum + body.length, 0) / 2 ** 20
printTable(
  'CPU per page',
  ['mean ms', 'p50', 'p90', 'worst', 'MB/CPU-s', 'KiB/page'],
  [
    [
      meanMs.toFixed(1),
      percentile(sorted, 0.5).toFixed(1),
      percentile(sorted, 0.9).toFixed(1),
      sorted.at(-1)!.toFixed(1),
      ((megabytes * 1000) / (meanMs * pages.length)).toFixed(0),
      ((megabytes * 1024) / pages.length).toFixed(0),
    ],
  ],
)
const price = scoreOf(parts.all.price)
const isGood = price.f1 >= TARGET.f1 && price.precision >= TARGET.precision && meanMs <= TARGET.cpuMs
console.log(
  `\nprice F1 ${figure(price.f1)} (target ${TARGET.f1}, goal ${TARGET.goal}), precision ${figure(price.precision)} ` +
    `(target ${TARGET.precision}), ${meanMs.toFixed(1)} ms of CPU a page (target ${TARGET.cpuMs}): ${isGood ? 'met' : 'MISSED'}`,
)
if (!isGood) process.exitCode = 1
