// Main-content extraction on two public corpora: precision, recall, F1, CPU and memory, beside readability on linkedom in
// the same run. Each engine in a process of its own; a third of the pages was kept out while the rules were made.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

/** Each in a process of its own; all with the flags of `npm start`, and one row more with those of src/outcomes/adapters/child.ts. */
const RUNS: readonly { label: string; engine: keyof typeof ENGINES; flags: readonly string[] }[] = [
  { label: 'gateway', engine: 'gateway', flags: START_FLAGS },
  { label: 'readability + linkedom', engine: 'readability + linkedom', flags: START_FLAGS },
  {
    label: 'gateway, as its own processes are bounded',
    engine: 'gateway',
    flags: ['--max-old-space-size=192', '--max-semi-space-size=8'],
  },
]

/** One page, as the process that measures writes it: a line of JSON. */
interface Line {
  readonly text: string
  readonly failed: boolean
  readonly cpuMs: number
  /** Most so far. */
  readonly peakMb: number
}

interface Measured {
  readonly pages: readonly (Score & Pick<Line, 'cpuMs' | 'failed'>)[]
  readonly peakMb: number
}

const MB = 1024 * 1024

/** Keeps no text: what was extracted goes to a file at once, so that it is no memory of the engine. */
async function measure(name: keyof typeof ENGINES, data: string): Promise<void> {
  const engine = await ENGINES[name]()
  const pages = listPages(data).map(({ url, read }) => ({ url, read }))
  // What every process has once it runs: code that is compiled, and the data of one page.
  for (const page of pages.slice(0, 3)) engine(page.read(), page.url)
  const bodies = pages.map((page) => page.read())
  globalThis.gc?.()
  const baseMb = process.memoryUsage.rss() / MB
  let peakMb = 0
  for (const [i, body] of bodies.entries()) {
    const before = process.cpuUsage()
    let text = ''
    let failed = false
    try {
      text = engine(body, pages[i]!.url)
    } catch {
      failed = true
    }
    const { user, system } = process.cpuUsage(before)
    peakMb = Math.max(peakMb, process.memoryUsage.rss() / MB - baseMb)
    const line: Line = { text, failed, cpuMs: (user + system) / 1000, peakMb }
    writeSync(1, `${JSON.stringify(line)}\n`)
  }
}

function runEngine({ engine, flags }: (typeof RUNS)[number], pages: readonly Page[]): Measured {
  const folder = mkdtempSync(join(tmpdir(), 'bench-extraction-'))
  const file = openSync(join(folder, 'lines'), 'w')
  try {
    const { status } = spawnSync(
      process.execPath,
      [...flags, '--expose-gc', new URL(import.meta.url).pathname, engine],
      { stdio: ['ignore', file, 'inherit'] },
    )
    if (status !== 0) throw new Error(`${engine} failed with ${status}`)
    const lines = readFileSync(join(folder, 'lines'), 'utf8').trimEnd().split('\n')
    const measured = lines.map((line) => JSON.parse(line) as Line)
    return {
      pages: measured.map(({ text, failed, cpuMs }, i) => ({ ...scorePage(pages[i]!, text), failed, cpuMs })),
      peakMb: measured.at(-1)!.peakMb,
    }
  } finally {
    closeSync(file)
    rmSync(folder, { recursive: true })
  }
}

/** Made to be slow: what they repeat, what comes before it, how often a large one has it. */
const HOSTILE: readonly [label: string, piece: string, before?: string, times?: number][] = [
  ['nested elements', '<div>'],
  ['nested elements with text', '<div>x '],
  ['nested links', '<a href=x>y<div>'],
  ['nested tables', '<table><tr><td>x'],
  ['nested lists', '<ul><li>one two three'],
  ['nested headings', '<h1>x<div>'],
  ['unclosed tags', '<p><b>x'],
  ['elements with names', '<p class="collapse a-b cDe">word'],
  ['elements of the prototype', '<__proto__ constructor=a>x'],
  ['attributes of one element', 'a ', '<p ', 1_000_000],
  ['attributes that are read', 'class=a ', '<p ', 250_000],
  ['declarations of one style', 'a:b;', '<p style="', 500_000],
  ['marks on one letter', '\u0323\u0301', 'e', 250_000],
]

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
  const small = HOSTILE.map(([, piece, before = '']) =>
    cpuMs(() => {
      const html = before + piece.repeat((12 * 1024) / piece.length)
      previewHtml({ html, baseUrl: undefined, isSample: false })
    }),
  )
  const large = HOSTILE.map(([label, piece, before = '', times = 50_000]): [string, number] => {
    const body = Buffer.from(before + piece.repeat(times))
    const page = {
      body,
      isCut: false,
      contentType: 'text/html',
      contentLanguage: null,
      url: 'https://a.example/',
    }
    return [`${times.toLocaleString('en')} ${label}`, cpuMs(() => readPage(page))]
  })
  const at = (values: readonly number[], share: number) =>
    percentile(
      values.toSorted((a, b) => a - b),
      share,
    )
  return [
    ['12 KiB preview, median', at(previews, 0.5)],
    ['12 KiB preview, 99 of 100', at(previews, 0.99)],
    [`12 KiB made to be slow, worst of ${small.length}`, Math.max(...small)],
    ['three pages of 128 KiB, median', at(three, 0.5)],
    ['three pages of 128 KiB, 95 of 100', at(three, 0.95)],
    ...large,
  ]
}

const format = (value: number) => value.toFixed(3)

function report(pages: readonly Page[], results: ReadonlyMap<string, Measured>): void {
  const engines = [...results].slice(0, 2)
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
    'CPU and memory, bodies and code not counted',
    ['engine', 'ms a page', 'worst ms', 'peak MB over base', 'failed'],
    [...results].map(([name, { pages: all, peakMb }]) => [
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
  await measure(wanted as keyof typeof ENGINES, data)
} else {
  const pages = listPages(data)
  report(pages, new Map(RUNS.map((run) => [run.label, runEngine(run, pages)])))
  printTable(
    'CPU of the gateway',
    ['what', 'ms'],
    (await measureSizes(pages)).map(([label, ms]) => [label, ms.toFixed(1)]),
  )
}
