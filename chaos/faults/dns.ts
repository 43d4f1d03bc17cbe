// Names are answered late, not at all, or wrongly.
import { once } from 'node:events'
import { createServer } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { UPSTREAM_HOST } from '../../test/support/gateway.ts'
import { type CallScene, openCalls } from '../calls.ts'
import type { Fault } from '../fault.ts'
import { doubleOrder, loseReceipt, sendTo } from '../spoil.ts'

const FAULT_MS = 10_000
/** Where an attacker waits: loopback, which no name may lead to. */
const THIEF = '127.0.0.2'
/** Of three questions two stay without an answer. */
const ANSWERED = 3

/** Every call asks: a name that is remembered would hide the fault. */
const open = (refusals: readonly string[] = []) =>
  openCalls({ engine: 'sqlite', nameTtlSeconds: 0, refusals })
async function heal({ world }: CallScene): Promise<void> {
  world.dns.set(UPSTREAM_HOST, { A: ['127.0.0.1'], ttl: 0 })
}

/** With somebody who listens at the wrong address, and has a certificate for the name. */
async function openWithThief(): Promise<CallScene> {
  const scene = await open(['target_blocked'])
  let stolen = 0
  const server = createServer(await scene.world.ca.leaf(UPSTREAM_HOST), (req, res) => {
    stolen++
    req.resume()
    res.end('{"ok":true}')
  })
  server.listen(scene.world.upstream.port, THIEF)
  await once(server, 'listening')
  return {
    ...scene,
    async check(patienceMs) {
      const verdict = await scene.check(patienceMs)
      if (stolen === 0) return verdict
      return { ...verdict, problems: [...verdict.problems, `${stolen} requests reached another address`] }
    },
    async close() {
      await scene.close()
      server.closeAllConnections()
      server.close()
    },
  }
}

export const faults: readonly Fault<CallScene>[] = [
  {
    name: 'DNS dead',
    command: 'a server of `GATEWAY_DNS_SERVERS` that says nothing, 10 s',
    promise: 'calls are refunded and told to repeat: nothing was sent',
    notCovered: 'names that are remembered: calls go on until their time is over',
    open: () => open(),
    async inject({ world }) {
      world.dns.set(UPSTREAM_HOST, { silent: true })
      await sleep(FAULT_MS)
    },
    heal,
    control: loseReceipt,
  },
  {
    name: 'DNS slow and failing',
    command: 'two of three questions without an answer, then SERVFAIL, 10 s',
    promise: 'calls wait, or are refunded and told to repeat',
    notCovered: 'more than one server: list two in `GATEWAY_DNS_SERVERS`',
    open: () => open(),
    async inject({ world }) {
      world.dns.set(UPSTREAM_HOST, (_type, before) =>
        before % ANSWERED === 0 ? { A: ['127.0.0.1'], ttl: 0 } : { silent: true },
      )
      await sleep(FAULT_MS / 2)
      world.dns.set(UPSTREAM_HOST, { rcode: 2 })
      await sleep(FAULT_MS / 2)
    },
    heal,
    control: doubleOrder,
  },
  {
    name: 'DNS lying',
    command: 'answers of a private address, of link-local and of loopback, where somebody listens, 10 s',
    promise: 'no connection is made there; calls are refunded and refused',
    notCovered: 'a public address of an attacker: TLS refuses its certificate (`test/unit/egress`)',
    open: openWithThief,
    async inject({ world }) {
      for (const address of ['10.0.0.1', '169.254.169.254', THIEF, '127.0.0.1']) {
        world.dns.set(UPSTREAM_HOST, { A: [address, THIEF], ttl: 0 })
        await sleep(FAULT_MS / 4)
      }
    },
    heal,
    control: {
      what: 'one request sent to the wrong address',
      spoil: (scene) => sendTo(scene, THIEF),
    },
  },
]
