// Main-content extraction on two public corpora: precision, recall, F1, CPU and memory, beside readability on linkedom in
// the same run. Each engine in a process of its own; a third of the pages was kept out while the rules were made.
import { spawnSync } from 'node:child_process'
import { decodeText } from '../src/outbound/charset.ts'
import { findData, listPages, meanScore, type Page, type Score, scorePage } from './corpora.ts'
import { percentile, printTable, START_FLAGS } from './support.ts'

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

/** Half the heap that the gateway's processes for analyses get: what fits there is what is needed, the rest is garbage not collected yet. */
const HEAP_FLAGS: Readonly<Record<string, readonly string[]>> = { gateway: ['--max-old-space-size=96'] }

interface Measured {
  readonly pages: readonly (Score & { readonly cpuMs: number; readonly failed: boolean })[]
  readonly peakMb: number
}

const MB = 1024 * 1024

async function measure(name: keyof typeof ENGINES, pages: readonly Page[]): Promise<Measured> {
  const engine = await ENGINES[name]()
  // What every process has once it runs: code that is compiled, and the data of one page.
  for (const page of pages.slice(0, 3)) engine(page.read(), page.url)
  const bodies = pages.map((page) => page.read())
  globalThis.gc?.()
  const baseMb = process.memoryUsage.rss() / MB
  let peakMb = baseMb
  const runs = bodies.map((body, i) => {
    const before = process.cpuUsage()
    let text = ''
    let failed = false
    try {
      text = engine(body, pages[i]!.url)
    } catch {
      failed = true
    }
    const { user, system } = process.cpuUsage(before)
    peakMb = Math.max(peakMb, process.memoryUsage.rss() / MB)
    return { text, failed, cpuMs: (user + system) / 1000 }
  })
  return {
    // Scored last: what scoring leaves behind is no memory of the engine.
    pages: runs.map(({ text, failed, cpuMs }, i) => ({ ...scorePage(pages[i]!, text), failed, cpuMs })),
    peakMb: peakMb - baseMb,
  }
}

/** The other figures of the promise: what is read on the calling thread, and what a full outcome reads. */
async function measureSizes(pages: readonly Page[]): Promise<[label: string, ms: number][]> {
  const { readPage } = await import('../src/outcomes/extract/page.ts')
  const { previewHtml } = await import('../src/outcomes/capabilities/extract-preview.ts')
  const bodies = pages.map((page) => page.read()).filter((body) => body.length >= 128 * 1024)
  const cpuMs = (work: () => void) => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  const previews = bodies.map((body) => {
    const html = body.toString('utf8', 0, 12 * 1024)
    return cpuMs(() => previewHtml({ html, baseUrl: undefined, isSample: false }))
  })
  const three = bodies.flatMap((_, i) => {
    const trio = bodies.slice(i, i + 3)
    if (i % 3 !== 0 || trio.length < 3) return []
    const read = (body: Buffer) =>
      readPage({
        body: body.subarray(0, 128 * 1024),
        isCut: true,
        contentType: 'text/html',
        contentLanguage: null,
        url: 'https://a.example/',
      })
    return [cpuMs(() => trio.forEach(read))]
  })
  const hostile = ['<div>', '<p><b>x', 'a=b '].map((piece) => piece.repeat((12 * 1024) / piece.length))
  const at = (values: readonly number[], share: number) =>
    percentile(
      values.toSorted((a, b) => a - b),
      share,
    )
  return [
    ['12 KiB preview, median', at(previews, 0.5)],
    ['12 KiB preview, 99 of 100', at(previews, 0.99)],
    [
      '12 KiB made to be slow, worst of three',
      Math.max(
        ...hostile.map((html) =>
          cpuMs(() => previewHtml({ html: `<p ${html}`, baseUrl: undefined, isSample: false })),
        ),
      ),
    ],
    ['three pages of 128 KiB, median', at(three, 0.5)],
    ['three pages of 128 KiB, 95 of 100', at(three, 0.95)],
  ]
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
    'CPU and memory (the gateway with a heap of 96 MB, as its processes for analyses are bounded)',
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
    const { stdout, status } = spawnSync(
      process.execPath,
      [...START_FLAGS, ...(HEAP_FLAGS[name] ?? []), '--expose-gc', file, name],
      {
        encoding: 'utf8',
        maxBuffer: 64 * MB,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    if (status !== 0) throw new Error(`${name} failed with ${status}`)
    results.set(name, JSON.parse(stdout) as Measured)
  }
  report(listPages(data), results)
  const sizes = await measureSizes(listPages(data))
  printTable(
    'CPU of the gateway',
    ['what', 'ms'],
    sizes.map(([label, ms]) => [label, ms.toFixed(1)]),
  )
}
