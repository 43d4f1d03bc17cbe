// Packets are late or lost, and connections end in the middle. Rules for packets are made in a network of its own, which run.ts gives it.
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type CallScene, openCalls } from '../calls.ts'
import type { Fault } from '../fault.ts'
import { missingFor } from '../mounts.ts'
import { doubleOrder, loseReceipt } from '../spoil.ts'

const run = promisify(execFile)
const FAULT_MS = 10_000
const LOSS_PERCENT = 20
const DELAY_MS = 250
const RESETS = 20

const open = () => openCalls({ engine: 'postgres', replicas: 2 })
const nft = (...words: string[]) => run('nft', words)

/** To and from a port, of all that arrives. */
async function rule(port: number, ...words: string[]): Promise<void> {
  await nft('add', 'table', 'inet', 'chaos')
  await nft('add', 'chain', 'inet', 'chaos', 'in', '{ type filter hook input priority 0 ; }')
  for (const side of ['dport', 'sport'])
    await nft('add', 'rule', 'inet', 'chaos', 'in', 'tcp', side, String(port), ...words)
}

async function missing(): Promise<string | undefined> {
  const programs = await missingFor('nft', 'ip')
  if (programs !== undefined) return programs
  // In the network of the machine the rules would be everybody's.
  const { stdout } = await run('ip', ['-o', 'link'])
  return stdout.trim().split('\n').length > 1
    ? 'it is not in a network of its own (npm run chaos makes one)'
    : undefined
}
const forget = async () => {
  // Also where there was no rule: what is added twice is there once.
  await nft('add', 'table', 'inet', 'chaos')
  await nft('delete', 'table', 'inet', 'chaos')
}

export const faults: readonly Fault<CallScene>[] = [
  {
    name: 'one packet in five lost to and from PostgreSQL',
    command: `ip netns; nft tcp dport 5432 numgen random mod 100 < ${LOSS_PERCENT} drop, and sport; 10 s`,
    promise: 'calls are slow; nothing is lost or done twice',
    notCovered: 'loss that lasts: a call may take longer than its caller waits',
    missing,
    open,
    async inject({ database }) {
      await rule(database().port, 'numgen', 'random', 'mod', '100', '<', String(LOSS_PERCENT), 'drop')
      await sleep(FAULT_MS)
    },
    heal: forget,
    control: doubleOrder,
  },
  {
    name: 'PostgreSQL cut off',
    command: 'nft tcp dport 5432 drop, and sport; 10 s',
    promise: 'calls are told to repeat; connections that went silent are given up and made anew',
    notCovered:
      'a replica that alone is cut off for long: PostgreSQL ends its lease, the others settle what it had under way',
    missing,
    open,
    async inject({ database }) {
      await rule(database().port, 'drop')
      await sleep(FAULT_MS)
    },
    heal: forget,
    control: loseReceipt,
  },
  {
    name: 'one packet in five lost to and from the upstream',
    command: 'the same for the port of the upstream; 10 s',
    promise: 'an order that has left is not sent again: its answer comes, or it is ambiguous',
    notCovered: 'what an ambiguous order did: the upstream knows, by its key',
    missing,
    open,
    async inject({ world }) {
      await rule(world.upstream.port, 'numgen', 'random', 'mod', '100', '<', String(LOSS_PERCENT), 'drop')
      await sleep(FAULT_MS)
    },
    heal: forget,
    control: {
      what: 'connections reset, and callers that repeat under another key',
      open: () => openCalls({ engine: 'postgres', replicas: 2, keys: 'fresh' }),
      inject: ({ replicas }) => Promise.all(replicas.map((one) => one.kill('SIGKILL'))).then(() => {}),
    },
  },
  {
    name: 'PostgreSQL far away',
    command: `a TCP proxy that adds ${DELAY_MS} ms each way; 10 s`,
    promise: 'calls are slow; nothing is lost or done twice',
    notCovered: 'more than 15 s for a statement, which PostgreSQL ends',
    open,
    async inject({ relay }) {
      relay().delayMs = DELAY_MS
      await sleep(FAULT_MS)
    },
    async heal({ relay }) {
      relay().delayMs = 0
    },
    control: loseReceipt,
  },
  {
    name: 'connections to PostgreSQL and to the upstream reset',
    command: `the proxy resets all of them, ${RESETS} times in 10 s; the upstream ends its own`,
    promise:
      'what PostgreSQL may have taken is found, and refunded where nothing was sent; an order that has left is ambiguous',
    notCovered: 'the same',
    open,
    async inject({ relay, world }) {
      for (let i = 0; i < RESETS; i++) {
        relay().reset()
        world.upstream.dropConnections()
        await sleep(FAULT_MS / RESETS)
      }
    },
    control: doubleOrder,
  },
]
