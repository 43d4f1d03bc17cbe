// Main-content extraction on two public corpora: precision, recall, F1, CPU and memory, beside readability on linkedom in
// the same run. Each engine in a process of its own; a third of the pages was kept out while the rules were made.
import { spawnSync } from 'node:child_process'
import { decodeText } from '../src/outbound/charset.ts'
import { findData, listPages, meanScore, type Page, type Score, scorePage } from './corpora.ts'
import { printTable } from './support.ts'

type Engine = (body: Buffer, url: string) => string

const ENGINES = {
  async gateway(): Promise<Engine> {
    const { readPage } = await import('../src/outcomes/extract/page.ts')
    return (body, url) => {
      const reading = readPage({ body, isCut: false, contentType: 'text/html', contentLanguage: null, url })
      return reading.ok ? reading.value.document.text : ''
    }
  },
  async 'readability + linkedom'(): Promise<Engine> {
    const { Readability } = await import('@mozilla/readability')
    const { parseHTML } = await import('linkedom')
    return (body) => {
      const { text } = decodeText(body, undefined, { isCut: false, markup: 'html' })
      return new Readability(parseHTML(text).document).parse()?.textContent ?? ''
    }
  },
}

interface Measured {
  readonly pages: readonly (Score & { readonly cpuMs: number; readonly failed: boolean })[]
  readonly peakMb: number
}

const MB = 1024 * 1024

async function measure(name: keyof typeof ENGINES, pages: readonly Page[]): Promise<Measured> {
  const engine = await ENGINES[name]()
  // What every process has once it runs: code that is compiled, and the data of one page.
  for (const page of pages.slice(0, 3)) engine(page.read(), page.url)
  globalThis.gc?.()
  const baseMb = process.memoryUsage.rss() / MB
  let peakMb = baseMb
  const measured = pages.map((page) => {
    const body = page.read()
    const before = process.cpuUsage()
    let text = ''
    let failed = false
    try {
      text = engine(body, page.url)
    } catch {
      failed = true
    }
    const { user, system } = process.cpuUsage(before)
    peakMb = Math.max(peakMb, process.memoryUsage.rss() / MB)
    return { ...scorePage(page, text), cpuMs: (user + system) / 1000, failed }
  })
  return { pages: measured, peakMb: peakMb - baseMb }
}

const format = (value: number) => value.toFixed(3)

function report(pages: readonly Page[], results: ReadonlyMap<string, Measured>): void {
  const engines = [...results]
  const types = [...new Set(pages.filter(({ corpus }) => corpus === 'wcxb').map(({ type }) => type))].sort()
  const groups: [label: string, corpus: Page['corpus'], belongs: (page: Page) => boolean][] = [
    ...types.map((type): (typeof groups)[number] => [`wcxb, ${type}`, 'wcxb', (page) => page.type === type]),
    ['wcxb, tuned on', 'wcxb', (page) => !page.isHeldOut],
    ['wcxb, held out', 'wcxb', (page) => page.isHeldOut],
    ['wcxb, all', 'wcxb', () => true],
    ['articles, tuned on', 'articles', (page) => !page.isHeldOut],
    ['articles, held out', 'articles', (page) => page.isHeldOut],
    ['articles, all', 'articles', () => true],
  ]
  const rows = groups.map(([label, corpus, belongs]) => {
    const at = pages.flatMap((page, i) => (page.corpus === corpus && belongs(page) ? [i] : []))
    const cells = engines.flatMap(([, { pages: scores }]) => {
      const { precision, recall, f1 } = meanScore(
        corpus,
        at.map((i) => scores[i]!),
      )
      return [format(precision), format(recall), format(f1)]
    })
    return [label, at.length, ...cells]
  })
  const names = engines.map(([name]) => name)
  printTable(
    `Main content: precision, recall, F1 of ${names.join(', then ')}`,
    ['pages', 'n', ...names.flatMap(() => ['P', 'R', 'F1'])],
    rows,
  )
  printTable(
    'CPU and memory',
    ['engine', 'ms a page', 'worst ms', 'peak MB over base', 'failed'],
    engines.map(([name, { pages: all, peakMb }]) => [
      name,
      (all.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / all.length).toFixed(1),
      Math.max(...all.map(({ cpuMs }) => cpuMs)).toFixed(0),
      peakMb.toFixed(0),
      all.filter(({ failed }) => failed).length,
    ]),
  )
}

const data = findData()
const [wanted] = process.argv.slice(2)
if (data === undefined) {
  console.log(
    'No corpora: set GATEWAY_BENCH_DATA to the folder that holds `extraction`. Nothing was measured.',
  )
} else if (wanted !== undefined) {
  process.stdout.write(JSON.stringify(await measure(wanted as keyof typeof ENGINES, listPages(data))))
} else {
  const results = new Map<string, Measured>()
  for (const name of Object.keys(ENGINES)) {
    const file = new URL(import.meta.url).pathname
    const { stdout, status } = spawnSync(process.execPath, ['--expose-gc', file, name], {
      encoding: 'utf8',
      maxBuffer: 64 * MB,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (status !== 0) throw new Error(`${name} failed with ${status}`)
    results.set(name, JSON.parse(stdout) as Measured)
  }
  report(listPages(data), results)
}
