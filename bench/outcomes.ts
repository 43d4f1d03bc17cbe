// What the paid capabilities cost and whether they keep anybody waiting: CPU of a 12 KiB preview and of three 128 KiB pages,
// then the delay of the event loop while pages made to be slow are read in processes of their own. `node --expose-gc bench/outcomes.ts`
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createAnalyserPool } from '../src/outcomes/adapters/pool.ts'
import { analyses } from '../src/outcomes/analyses.ts'
import { previewHtml } from '../src/outcomes/capabilities/preview-html.ts'
import { webExtraction } from '../src/outcomes/capabilities/web-extraction.ts'
import { digestJson } from '../src/outcomes/digest.ts'
import type { Analyser } from '../src/outcomes/ports.ts'
import { createGather } from '../src/outcomes/sources/gather.ts'
import { HOSTILE_PAGES, MAX_BYTES } from '../test/support/hostile-pages.ts'
import { pageOf } from './pages.ts'
import { percentile, printTable } from './support.ts'

const KIB = 1024
const TARGETS = { previewMs: 15, threePagesMs: 150, loopDelayMs: 50, pageMemoryMb: 100 }
const SAMPLES = 40

const inThread: Analyser = {
  // oxlint-disable-next-line typescript/no-explicit-any
  run: async (name, input) => ({ ok: true, value: await (analyses[name] as any)(input) }),
  close: async () => {},
}

function extractFrom(bodies: readonly Buffer[], analyser: Analyser) {
  const urls = bodies.map((_, i) => `https://site.example/${i}`)
  const gather = createGather({
    rules: { ports: [443] },
    now: Date.now,
    reader: {
      async read(url) {
        const body = bodies[Number(new URL(url).pathname.slice(1))]!
        const sha256 = createHash('sha256').update(body).digest('hex')
        const source = { url, status: 200, contentType: 'text/html', contentLanguage: null, etag: null }
        const age = { lastModified: null, retrievedAt: Date.now(), ageSeconds: 0, cache: 'miss' as const }
        return { ok: true, source: { ...source, ...age, body, isCut: body.length === MAX_BYTES, sha256 } }
      },
    },
  })
  const claims = new Map<'urls' | 'query', unknown>([
    ['urls', urls],
    ['query', 'how hot is the water for green tea'],
  ])
  return webExtraction
    .prepare(claims, { isDemo: false })
    .run({ gather, analyser, signal: new AbortController().signal })
}

async function cpuMs(work: () => unknown): Promise<number[]> {
  const samples: number[] = []
  for (let i = -10; i < SAMPLES; i++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    if (i >= 0) samples.push((user + system) / 1000)
  }
  return samples.toSorted((a, b) => a - b)
}

/** CPU that the calling thread itself used so far: unlike a delay it does not count what else the machine does. */
const ownCpuMs = () =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6

const html = pageOf(12 * KIB, 1)
const nested = '<div>'.repeat((12 * KIB) / 5)
const three = [1, 1000, 2000].map((seed) => Buffer.from(pageOf(128 * KIB, seed)))
const costs: [string, number[], number][] = [
  [
    'preview, 12 KiB',
    await cpuMs(() => previewHtml({ html, baseUrl: undefined, isSample: false })),
    TARGETS.previewMs,
  ],
  [
    'preview, 12 KiB of <div>',
    await cpuMs(() => previewHtml({ html: nested, baseUrl: undefined, isSample: false })),
    TARGETS.previewMs,
  ],
  [
    'web-extraction, three of 128 KiB, with a query',
    await cpuMs(() => extractFrom(three, inThread)),
    TARGETS.threePagesMs,
  ],
]
printTable(
  `${SAMPLES} of each, CPU ms, all of it in one thread`,
  ['', 'p50', 'p90', 'worst', 'target'],
  costs.map(([name, ms, target]) => [
    name,
    ...[0.5, 0.9, 1].map((share) => percentile(ms, share).toFixed(1)),
    `< ${target}`,
  ]),
)

const pool = createAnalyserPool()
await extractFrom(three, pool)
const loop = monitorEventLoopDelay({ resolution: 1 })
const rows: string[][] = []
let worstDelayMs = 0
let worstCpuMs = 0
for (const [name, make] of HOSTILE_PAGES) {
  const body = Buffer.from(make()).subarray(0, MAX_BYTES)
  // Making the page is the benchmark's own work.
  await new Promise((resolve) => setImmediate(resolve))
  globalThis.gc?.()
  loop.reset()
  loop.enable()
  const started = performance.now()
  const cpuBeforeMs = ownCpuMs()
  const outcome = await extractFrom([body], pool).then(
    ({ result }) => `read, ${digestJson(result).slice(0, 8)}`,
    (thrown: { extras: { coverage: { sources: { reason: string }[] } } }) =>
      thrown.extras.coverage.sources[0]!.reason,
  )
  const ms = performance.now() - started
  const usedMs = ownCpuMs() - cpuBeforeMs
  loop.disable()
  const delayMs = loop.max / 1e6
  worstDelayMs = Math.max(worstDelayMs, delayMs)
  worstCpuMs = Math.max(worstCpuMs, usedMs)
  rows.push([name, outcome, ms.toFixed(0), usedMs.toFixed(1), delayMs.toFixed(1)])
}
await pool.close()
printTable(
  'pages of 2 MiB made to be slow, one at a time',
  ['', 'outcome', 'ms', 'own CPU ms', 'loop delay ms'],
  rows,
)
console.log(
  `\nlongest delay of the event loop ${worstDelayMs.toFixed(1)} ms (target: under ${TARGETS.loopDelayMs} ms on a machine ` +
    `that does nothing else); most CPU that one of them took of the calling thread, all in all: ${worstCpuMs.toFixed(1)} ms`,
)

/** Of the one process that reads pages, whichever it is by now: it is replaced when a page is too much for it. Megabytes. */
function pageProcessMb(field: 'VmRSS' | 'VmHWM'): number | undefined {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
  try {
    const status = readFileSync(`/proc/${children.at(-1)!}/status`, 'utf8')
    return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)![1]) / KIB
  } catch {
    // It is just ending, or there is none.
    return undefined
  }
}

/** A process that reads pages, as it is after ordinary ones: the code is loaded and the heap has its size. */
async function startPageProcess() {
  const alone = createAnalyserPool({ workers: 1 })
  for (let i = 0; i < 10; i++) await extractFrom(three, alone)
  return { alone, baseMb: pageProcessMb('VmRSS')! }
}

/** Most that it had while it read this page; its peak is one of its whole life, and so it is looked at as well. */
async function peakOf(body: Buffer, alone: Analyser): Promise<number> {
  let mb = 0
  const look = () => (mb = Math.max(mb, pageProcessMb('VmRSS') ?? 0))
  const timer = setInterval(look, 5)
  await extractFrom([body], alone).catch(() => {})
  clearInterval(timer)
  look()
  return mb
}

const each: [name: string, overMb: number][] = []
const { alone: lasting, baseMb } = await startPageProcess()
let lastingMb = 0
for (const [name, make] of HOSTILE_PAGES) {
  const body = Buffer.from(make()).subarray(0, MAX_BYTES)
  const fresh = await startPageProcess()
  const mb = Math.max(await peakOf(body, fresh.alone), pageProcessMb('VmHWM') ?? 0)
  each.push([name, mb - fresh.baseMb])
  await fresh.alone.close()
  lastingMb = Math.max(lastingMb, await peakOf(body, lasting))
}
await lasting.close()
const largest = each.toSorted(([, a], [, b]) => b - a)
printTable(
  'memory of the process that reads them, one for each; MB over what it has after ordinary pages; the five largest',
  ['', 'MB over base'],
  largest.slice(0, 5).map(([name, mb]) => [name, mb.toFixed(0)]),
)
console.log(
  `\nat most ${largest[0]![1].toFixed(0)} MB over base (target: under ${TARGETS.pageMemoryMb}); one process for all of them, one after the ` +
    `other, whose heap is collected when it has to be: ${baseMb.toFixed(0)} MB before, ${lastingMb.toFixed(0)} MB at most`,
)
