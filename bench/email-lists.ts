// What the lists of email verification cost the gateway: memory that stays (heap and outside of it, and what the system
// counts), the time until they are there, the longest turn of the event loop meanwhile, and a verdict by rules alone.
// `node --expose-gc bench/email-lists.ts`
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createListLoader } from '../src/email/adapters/list-loader.ts'
import { decide } from '../src/email/decide.ts'
import { createKnowledge, type DomainLists, emailDomainsDocument } from '../src/email/lists.ts'
import type { MailRoute } from '../src/email/ports.ts'
import { readAddress } from '../src/email/reading.ts'
import { median, printTable } from './support.ts'

const TARGET_MB = 25
const ROUNDS = 5
const VERDICTS = 20_000
const MX: MailRoute = { status: 'mx', hosts: [{ host: 'mx.acme-corp.com', priority: 10 }], ttlSeconds: 300 }

if (typeof globalThis.gc !== 'function') {
  console.log('run it with node --expose-gc')
  process.exit(1)
}

/** Heap and what hangs on it outside, after everything that can go is gone, in MB. */
function heldMb(): number {
  for (let i = 0; i < 4; i++) globalThis.gc!()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

// Kept by this name, as a gateway keeps it: what nobody holds would cost nothing.
let lists: DomainLists | undefined
const { load } = createListLoader({ dataDir: join(tmpdir(), 'no-refreshed-list') })
const before = heldMb()
const residentBefore = process.memoryUsage.rss()
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
const from = performance.now()
lists = await load()
const loadMs = performance.now() - from
delay.disable()
const held = heldMb() - before
const resident = (process.memoryUsage.rss() - residentBefore) / 2 ** 20
printTable(
  'lists of domains',
  ['names', 'table MB', 'held MB', 'resident MB', 'load ms', 'longest turn ms'],
  [
    [
      lists.names.size,
      (lists.names.bytes / 2 ** 20).toFixed(1),
      held.toFixed(1),
      resident.toFixed(1),
      loadMs.toFixed(0),
      (delay.max / 1e6).toFixed(0),
    ],
  ],
)

const knowledge = createKnowledge(lists, emailDomainsDocument.initial)
const ADDRESSES = [
  'ada@acme-corp.com',
  'ada@gmail.com',
  'ada@gmial.com',
  'info@mail.mailinator.com',
  'ada@bücher.example',
  'Ada L. <ada@acme-corp.com>',
  `ada@${'a'.repeat(100_000)}.com`,
]
printTable(
  'verdict without DNS',
  ['address', 'CPU µs'],
  ADDRESSES.map((address) => {
    const rounds = Array.from({ length: ROUNDS }, () => {
      const from = process.cpuUsage()
      for (let i = 0; i < VERDICTS; i++) decide(readAddress(address, knowledge), MX, 'unknown')
      const { user, system } = process.cpuUsage(from)
      return (user + system) / VERDICTS
    })
    return [address.slice(0, 30), median(rounds).toFixed(1)]
  }),
)
console.log(`\nheld ${held.toFixed(1)} MB (target ${TARGET_MB}): ${held < TARGET_MB ? 'met' : 'MISSED'}`)
if (held >= TARGET_MB) process.exitCode = 1
