// The embedded chains: on demand, once, across restarts, and never left behind.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/core/errors.ts'
import { noFault } from '../../src/lib/fault-points.ts'
import { createLogger } from '../../src/lib/log.ts'
import { createChain } from '../../src/payments/adapters/chain.ts'
import { createJsonRpc } from '../../src/payments/adapters/json-rpc.ts'
import { createLocalUpstream } from '../../src/payments/adapters/local-upstream.ts'
import { createNetworks } from '../../src/core/networks.ts'
import { startAnvil } from '../../src/sandbox/anvil.ts'
import { openSandboxChains, type SandboxChains } from '../../src/sandbox/chains.ts'
import { paymentOf, signForAccount, usdcAt } from '../support/chain.ts'
import { removeFolder } from '../support/remove-folder.ts'

const network = createNetworks([84532]).all[0]!

let dataDir: string
let lines: string[]
const opened: SandboxChains[] = []
const children: ChildProcess[] = []
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'agent-gateway-sandbox-'))
  lines = []
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await Promise.all(opened.splice(0).map((chains) => chains.close()))
  await expect.poll(async () => (await processesOf(dataDir)).all).toEqual([])
  await removeFolder(dataDir)
})

async function open() {
  const log = createLogger('debug', { write: (line: string) => void lines.push(line) })
  // A node that is there answers, if late; one that is gone has nobody who is asked.
  const chains = await openSandboxChains({ dataDir, log, now: Date.now, probeMs: 30_000 })
  opened.push(chains)
  return chains
}

async function close(chains: SandboxChains) {
  opened.splice(opened.indexOf(chains), 1)
  await chains.close()
}

/** Another gateway on this data directory. Resolves when its chain is up. */
async function openElsewhere() {
  const file = fileURLToPath(new URL('../support/chains-process.ts', import.meta.url))
  const child = spawn(process.execPath, [file, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  const [chunk] = (await once(child.stdout!, 'data')) as [Buffer]
  return { child, rpcUrl: chunk.toString('utf8').trim() }
}

/** Pids of nodes that write a state below this folder, and of what watches them. */
async function processesOf(folder: string): Promise<{ nodes: number[]; all: number[] }> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const commands = await Promise.all(
    pids.map(async (pid) => ({
      pid: Number(pid),
      command: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
    })),
  )
  const ours = commands.filter(({ command }) => command.includes(`${folder}/chains/`))
  const nodes = ours.filter(({ command }) => command.split('\0')[0]!.endsWith('/anvil'))
  return { nodes: nodes.map(({ pid }) => pid), all: ours.map(({ pid }) => pid) }
}
const nodesOf = async (folder: string) => (await processesOf(folder)).nodes

/** The sandbox's payer pays 1000 atomic units to its payTo, through the in-process facilitator. */
async function settle(chains: SandboxChains) {
  const payload = await signForAccount(chains.payer, network, chains.payTo)
  const upstream = createLocalUpstream({
    chains: [{ network, rpcUrl: () => chains.rpcUrl(84532) }],
    settlerKeys: async () => chains.settlers.map(({ privateKey }) => privateKey),
    fault: noFault,
    now: Date.now,
  })
  const { payment, requirements, question } = paymentOf(payload, network)
  const settled = await upstream.settle({ payment, requirements, deadlineMs: 10_000 })
  await upstream.close()
  expect(settled.state).toBe('settled')
  return question
}

describe('accounts', () => {
  it('are made once, for the owner of the directory alone', async () => {
    const first = await open()
    const file = join(dataDir, 'chains', 'accounts.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const text = await readFile(file, 'utf8')
    await close(first)
    const second = await open()
    expect(await readFile(file, 'utf8')).toBe(text)
    expect([second.payer.address, second.payTo]).toEqual([first.payer.address, first.payTo])
    expect(new Set([first.payTo, first.payer.address, ...first.settlers.map((s) => s.address)]).size).toBe(4)
  })

  it.each([
    ['others may read', async (file: string) => chmod(file, 0o644), 'chmod 600'],
    ['is damaged', async (file: string) => writeFile(file, '{"payer":', { mode: 0o600 }), 'restore it'],
  ])('are refused in a file that %s, and the file stays', async (_title, damage, words) => {
    await close(await open())
    const file = join(dataDir, 'chains', 'accounts.json')
    await damage(file)
    const text = await readFile(file, 'utf8')
    await expect(open()).rejects.toThrow(ConfigError)
    await expect(open()).rejects.toThrow(words)
    expect(await readFile(file, 'utf8')).toBe(text)
  })
})

describe('a chain', () => {
  it('starts when it is first asked for, once for all who ask', async () => {
    const chains = await open()
    expect(await nodesOf(dataDir)).toEqual([])
    const urls = await Promise.all([chains.rpcUrl(84532), chains.rpcUrl(84532), chains.rpcUrl(8453)])
    expect(urls[0]).toBe(urls[1])
    expect(await nodesOf(dataDir)).toHaveLength(2)
    const chain = createChain({ network, rpcUrl: () => chains.rpcUrl(84532), now: Date.now })
    expect((await chain.head()).number).toBeGreaterThan(0n)
    await chain.close()
    expect(await usdcAt(urls[0]!, network, chains.payer.address)).toBe(1_000_000_000n)
    await expect(chains.rpcUrl(1)).rejects.toThrow('no chain 1')
  })

  it('keeps balances, nonces and logs across a restart', async () => {
    const first = await open()
    const question = await settle(first)
    await close(first)
    const second = await open()
    const url = await second.rpcUrl(84532)
    expect(await usdcAt(url, network, second.payTo)).toBe(1_000n)
    expect(await usdcAt(url, network, second.payer.address)).toBe(999_999_000n)
    const chain = createChain({ network, rpcUrl: async () => url, now: Date.now })
    expect(await chain.authorizationStatus(question)).toMatchObject({ state: 'used', transferred: true })
    await chain.close()
    await settle(second)
    expect(await usdcAt(url, network, second.payTo)).toBe(2_000n)
  })

  it('starts again after its node was killed, with what was saved', async () => {
    const first = await open()
    await settle(first)
    await close(first)
    const second = await open()
    const chain = createChain({ network, rpcUrl: () => second.rpcUrl(84532), now: Date.now })
    await chain.head()
    for (const pid of await nodesOf(dataDir)) process.kill(pid, 'SIGKILL')
    await expect.poll(() => lines.join('')).toContain('started again when needed')
    // The first question finds nobody; from then on the new node is asked.
    await expect
      .poll(() =>
        chain.head().then(
          () => 'up',
          () => 'down',
        ),
      )
      .toBe('up')
    expect(await usdcAt(await second.rpcUrl(84532), network, second.payTo)).toBe(1_000n)
    await chain.close()
  })

  it('ends with its gateway on SIGKILL, having saved all, and blocks no start', async () => {
    const { child } = await openElsewhere()
    const chains = await open()
    await settle(chains)
    const before = await nodesOf(dataDir)
    expect(before).toHaveLength(1)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await usdcAt(await chains.rpcUrl(84532), network, chains.payTo)).toBe(1_000n)
    expect(await nodesOf(dataDir)).toHaveLength(1)
    expect(await nodesOf(dataDir)).not.toEqual(before)
  })

  it('is shared by two gateways of one directory, and taken over when the first ends', async () => {
    const { child, rpcUrl } = await openElsewhere()
    const chains = await open()
    expect(await chains.rpcUrl(84532)).toBe(rpcUrl)
    await settle(chains)
    child.stdin!.end()
    await once(child, 'exit')
    const own = await chains.rpcUrl(84532)
    expect(own).not.toBe(rpcUrl)
    expect(await usdcAt(own, network, chains.payTo)).toBe(1_000n)
  })

  it('begins anew when its saved state cannot be read, and says so', async () => {
    await close(await open())
    const file = join(dataDir, 'chains', '84532.json')
    await writeFile(file, '{"block":')
    const chains = await open()
    expect(await usdcAt(await chains.rpcUrl(84532), network, chains.payer.address)).toBe(1_000_000_000n)
    expect(await readFile(`${file}.unreadable`, 'utf8')).toBe('{"block":')
    expect(lines.join('')).toContain('cannot be read')
  })
})

describe('a chain whose setting up was cut short', () => {
  it('is set up anew', async () => {
    const folder = join(dataDir, 'chains')
    await mkdir(folder, { recursive: true })
    const node = await startAnvil(['--chain-id=84532', '--state', join(folder, '84532.json')], folder)
    const rpc = createJsonRpc({ network: 'eip155:84532', url: node.rpcUrl })
    // As far as the token, not as far as the end.
    await rpc.call('anvil_setNonce', ['0x00000000000000000000000000000000005addc0', '0x6'])
    await rpc.close()
    await node.stop()
    const chains = await open()
    expect(await usdcAt(await chains.rpcUrl(84532), network, chains.payer.address)).toBe(1_000_000_000n)
  })
})

describe('where a chain cannot run', () => {
  const platform = Object.getOwnPropertyDescriptor(process, 'platform')!
  afterEach(() => void Object.defineProperty(process, 'platform', platform))

  it('everything else starts, and what to install is said when a chain is needed', async () => {
    Object.defineProperty(process, 'platform', { ...platform, value: 'sunos' })
    const chains = await open()
    await expect(chains.rpcUrl(84532)).rejects.toThrow(
      `no embedded chain for sunos-${process.arch}: install @foundry-rs/anvil-sunos-`,
    )
    const chain = createChain({ network, rpcUrl: () => chains.rpcUrl(84532), now: Date.now })
    await expect(chain.head()).rejects.toMatchObject({ reason: 'unreachable' })
    expect(chain.state().detail).toContain('install @foundry-rs/anvil-sunos-')
    await chain.close()
  })

  it('a node that ends at its start is quoted', async () => {
    await expect(startAnvil(['--no-such-option'], dataDir)).rejects.toThrow(
      "the embedded chain did not start: error: unexpected argument '--no-such-option' found",
    )
  })
})
