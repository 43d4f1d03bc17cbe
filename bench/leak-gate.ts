// The leak gate alone: what searching an ordinary answer costs, warmed up, in CPU and on one core. `node bench/leak-gate.ts`
import { createBudget } from '../src/egress/leak/budget.ts'
import { createLeakSearch } from '../src/egress/leak/search.ts'
import { Secret } from '../src/lib/secret.ts'
import { createRandom } from '../test/support/ordinary-answers.ts'
import { median, printTable } from './support.ts'

const ROUNDS = 15
const CALLS = 400

const random = createRandom('bench')
const secret = `ghp_${random.bytes(27).toString('base64url')}`

/** A page of repositories: links, digests, dates, words, line breaks and quotes in strings. */
function repositories(bytes: number): Buffer {
  const items: unknown[] = []
  let size = 0
  for (let i = 0; size < bytes; i++) {
    const item = {
      id: 1_000_000 + i,
      node_id: random.bytes(12).toString('base64'),
      full_name: `octocat/item-${i}`,
      private: false,
      html_url: `https://github.com/octocat/item-${i}`,
      archive_url: `https://api.github.com/repos/octocat/item-${i}/{archive_format}{/ref}?page=${i}&per_page=30`,
      created_at: '2011-01-26T19:01:12Z',
      sha: random.bytes(20).toString('hex'),
      description: `A "quoted" text\nwith lines & tokens, number ${i}`,
      body: "I'm having a problem with this.\r\nIt happens when the service starts and the queue is full.",
      topics: ['octocat', 'atom', 'electron', 'api'],
    }
    items.push(item)
    size += JSON.stringify(item).length + 1
  }
  return Buffer.from(JSON.stringify(items)).subarray(0, bytes)
}

const headers = [
  { name: 'content-type', value: 'application/json; charset=utf-8' },
  { name: 'etag', value: `W/"${random.bytes(32).toString('hex')}"` },
  { name: 'date', value: 'Sun, 22 Nov 2026 21:00:00 GMT' },
]
const search = createLeakSearch({ secrets: [new Secret(secret)], scheme: 'Bearer' })
const bodies = [1, 64, 1024].map((kib): [string, Buffer] => [`${kib} KiB of JSON`, repositories(kib * 1024)])

function cpuMicros(work: () => unknown, calls: number): number {
  const before = process.cpuUsage()
  for (let i = 0; i < calls; i++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

// A machine that is slow today reads JSON slowly, too: the ratio stays what the figure in milliseconds does not.
const rows = bodies.map(([name, body]) => {
  const text = body.subarray(0, body.lastIndexOf('},{"id"') + 1).toString() + ']'
  const parse = () => JSON.parse(text) as unknown
  const inspect = () => search.inspect({ statusText: 'OK', headers, body }, createBudget(1e9))
  const calls = Math.max(10, Math.round((CALLS * 65_536) / (body.length + 65_536)))
  cpuMicros(inspect, calls * 2)
  cpuMicros(parse, calls * 2)
  const pairs = Array.from(
    { length: ROUNDS },
    () => [cpuMicros(inspect, calls), cpuMicros(parse, calls)] as const,
  )
  const rounds = pairs.map(([inspected]) => inspected)
  const ratio = median(pairs.map(([inspected, parsed]) => inspected / parsed))
  return [
    name,
    (median(rounds) / 1000).toFixed(3),
    (Math.min(...rounds) / 1000).toFixed(3),
    `${ratio.toFixed(2)}x`,
  ]
})
const prepare = () => createLeakSearch({ secrets: [new Secret(secret)], scheme: 'Bearer' })
cpuMicros(prepare, 200)
const rounds = Array.from({ length: ROUNDS }, () => cpuMicros(prepare, 100))
rows.push([
  'prepared for a credential, once in two seconds',
  (median(rounds) / 1000).toFixed(3),
  (Math.min(...rounds) / 1000).toFixed(3),
  '',
])
printTable(
  `The leak gate alone, CPU ms, ${ROUNDS} rounds (target: 64 KiB of ordinary JSON in at most 0.300)`,
  ['answer', 'median', 'least', 'JSON.parse of the same'],
  rows,
)
