// Main-content extraction on two public corpora, or on pages of your own (`--corpus DIR`, see corpora.ts): precision, recall,
// F1, CPU and memory, beside Readability and Defuddle in the same run. Each engine in a process of its own; a third of the
// pages was kept out while the rules were made. `node bench/extraction.ts [--corpus DIR] [--engine gateway]`
// With `--engine gateway` nothing else runs, and CPU a page is there in less than a minute: the row `gateway` of the second table.
import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findData, listPages, meanScore, type Page, type Score, scorePage } from './corpora.ts'
import type { Line } from './peers/extractors.ts'
import { cpuSeconds, percentile, printTable, START_FLAGS } from './support.ts'

/** Each in a process of its own; all with the flags of `npm start`, and one row more with those of src/outcomes/adapters/child.ts. */
const RUNS: readonly { label: string; engine: string; flags: readonly string[] }[] = [
  { label: 'gateway', engine: 'gateway', flags: START_FLAGS },
  { label: 'Readability + linkedom', engine: 'readability', flags: START_FLAGS },
  { label: 'Defuddle + linkedom', engine: 'defuddle', flags: START_FLAGS },
  {
    label: 'gateway, as its own processes are bounded',
    engine: 'gateway',
    flags: ['--max-old-space-size=192', '--max-semi-space-size=8'],
  },
]
const PEERS = 3

interface Measured {
  readonly pages: readonly (Score & Pick<Line, 'cpuMs' | 'failed'>)[]
  readonly peakMb: number
  readonly timedOut: number
}

/** An engine that takes longer for one page has failed on it; counted in CPU, so that a busy machine changes nothing. */
const MAX_PAGE_SECONDS = 10
const LOOK_EVERY_MS = 100

/** Begins behind the page that took too long, as often as that happens. */
async function runEngine(
  { engine, flags }: (typeof RUNS)[number],
  pages: readonly Page[],
): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-extraction-'))
  const lines: Line[] = []
  let timedOut = 0
  while (lines.length < pages.length) {
    const path = join(folder, String(lines.length))
    const isWhole = await runFrom(lines.length, path)
    const written = readFileSync(path, 'utf8')
    for (const line of written.split('\n').filter((each) => each !== '')) lines.push(JSON.parse(line) as Line)
    if (isWhole) break
    timedOut++
    lines.push({
      text: '',
      failed: true,
      cpuMs: MAX_PAGE_SECONDS * 1000,
      peakMb: lines.at(-1)?.peakMb ?? 0,
    })
  }
  rmSync(folder, { recursive: true })
  if (lines.length !== pages.length) throw new Error(`${engine} read ${lines.length} pages`)
  return {
    pages: lines.map(({ text, failed, cpuMs }, i) => ({ ...scorePage(pages[i]!, text), failed, cpuMs })),
    peakMb: Math.max(...lines.map(({ peakMb }) => peakMb)),
    timedOut,
  }

  /** False when it was stopped, because a page took too long. */
  async function runFrom(first: number, path: string): Promise<boolean> {
    const file = openSync(path, 'w')
    const program = new URL('./peers/extractors.ts', import.meta.url).pathname
    const child = spawn(
      process.execPath,
      [...flags, '--expose-gc', program, engine, String(first), ...process.argv.slice(2)],
      { stdio: ['ignore', file, 'inherit'] },
    )
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
    let size = 0
    let cpuBefore = 0
    for (;;) {
      await Promise.race([delay(LOOK_EVERY_MS), exited])
      if (child.exitCode !== null || child.signalCode !== null) break
      const cpu = cpuSeconds(child.pid!)
      const { size: now } = statSync(path)
      if (now !== size) {
        size = now
        cpuBefore = cpu
      } else if (size > 0 && cpu - cpuBefore > MAX_PAGE_SECONDS) {
        child.kill('SIGKILL')
        await exited
        closeSync(file)
        return false
      }
    }
    closeSync(file)
    const status = await exited
    if (status !== 0) throw new Error(`${engine} failed with ${status}`)
    return true
  }
}

/** Made to be slow: what they repeat, what comes before it, how often a large one has it. */
const HOSTILE: readonly [label: string, piece: string, before?: string, times?: number][] = [
  ['nested elements', '<div>'],
  ['nested elements with text', '<div>x '],
  ['nested links', '<a href=x>y<div>'],
  ['nested tables', '<table><tr><td>x'],
  ['nested figures', '<figure><img src=x>'],
  ['nested formulas', '<math><msup>'],
  ['nested lists', '<ul><li>one two three'],
  ['nested headings', '<h1>x<div>'],
  ['cards in cards', '<div class=c><a href=x>one two three four</a> $5'],
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
  const { previewHtml } = await import('../src/outcomes/capabilities/preview-html.ts')
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
  const engines = [...results].slice(0, PEERS)
  const types = [...new Set(pages.filter(({ corpus }) => corpus === 'wcxb').map(({ type }) => type))].sort()
  type Group = [label: string, corpus: Page['corpus'], belongs: (page: Page) => boolean]
  const inThirds = (label: string, corpus: Page['corpus'], belongs: Group[2]): Group[] => [
    [`${label}, tuned on`, corpus, (page) => belongs(page) && !page.isHeldOut],
    [`${label}, held out`, corpus, (page) => belongs(page) && page.isHeldOut],
    [`${label}, all`, corpus, belongs],
  ]
  const groups: Group[] = [
    ...types.flatMap((type) => inThirds(`wcxb ${type}`, 'wcxb', (page) => page.type === type)),
    ...inThirds('wcxb', 'wcxb', () => true),
    ...inThirds('articles', 'articles', () => true),
  ]
  const rows = groups.flatMap(([label, corpus, belongs]) => {
    const at = pages.flatMap((page, i) => (page.corpus === corpus && belongs(page) ? [i] : []))
    if (at.length === 0) return []
    const cells = engines.flatMap(([, { pages: scores }]) => {
      const { precision, recall, f1 } = meanScore(
        corpus,
        at.map((i) => scores[i]!),
      )
      return [format(precision), format(recall), format(f1)]
    })
    return [[label, at.length, ...cells]]
  })
  const names = engines.map(([name]) => name)
  printTable(
    `Main content: precision, recall, F1 of ${names.join(', then ')}`,
    ['pages', 'n', ...names.flatMap(() => ['P', 'R', 'F1'])],
    rows,
  )
  printTable(
    `CPU and memory, bodies and code not counted; a page may take ${MAX_PAGE_SECONDS} s`,
    ['engine', 'ms a page', 'median ms', 'worst ms', 'peak MB over base', 'failed', 'timed out'],
    [...results].map(([name, { pages: all, peakMb, timedOut }]) => {
      const sorted = all.map(({ cpuMs }) => cpuMs).toSorted((a, b) => a - b)
      return [
        name,
        (sorted.reduce((sum, ms) => sum + ms, 0) / all.length).toFixed(1),
        percentile(sorted, 0.5).toFixed(1),
        sorted.at(-1)!.toFixed(0),
        peakMb.toFixed(0),
        all.filter(({ failed }) => failed).length,
        timedOut,
      ]
    }),
  )
}

const data = findData()
const pages = data === undefined ? [] : listPages(data)
const wanted = process.argv.includes('--engine')
  ? process.argv[process.argv.indexOf('--engine') + 1]
  : undefined
if (pages.length === 0) {
  console.log(
    'No pages: name the folder that holds `extraction` with --corpus or GATEWAY_BENCH_DATA. Nothing was measured.',
  )
} else {
  const results = new Map<string, Measured>()
  for (const run of RUNS)
    if (wanted === undefined || run.engine === wanted) results.set(run.label, await runEngine(run, pages))
  report(pages, results)
  printTable(
    'CPU of the gateway',
    ['what', 'ms'],
    (await measureSizes(pages))
      .filter(([, ms]) => !Number.isNaN(ms))
      .map(([label, ms]) => [label, ms.toFixed(1)]),
  )
}
