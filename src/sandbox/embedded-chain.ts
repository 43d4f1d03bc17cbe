// One embedded chain of a data directory: at most one node at a time writes its state, also when several gateways share
// the directory or the last one was killed.
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Logger } from '../lib/log.ts'
import { createJsonRpc, type JsonRpc } from '../payments/adapters/json-rpc.ts'
import type { PaymentNetwork } from '../core/networks.ts'
import type { SandboxAccounts } from './accounts.ts'
import { type Anvil, AnvilError, startAnvil } from './anvil.ts'
import { endProcess, isAlive, isProcessOf, takeLock } from './process.ts'
import { giveGas, installUsdc, isPrepared } from './usdc.ts'

export interface EmbeddedChain {
  /** The address of a node that answers; starts one when there is none. @throws {AnvilError} */
  rpcUrl(): Promise<string>
  close(): Promise<void>
}

/** The process that runs the node, noted for other gateways of this directory and for the next one. */
interface Running {
  readonly owner: number
  readonly pid: number
  readonly rpcUrl: string
}

const PAYER_USDC = 1_000_000_000n
/** This much is lost at most after a crash of the whole machine. */
const SAVE_EVERY_SECONDS = 30
/** These are about 40 MB of state file with their transactions. Payments are decided within minutes. */
const KEPT_BLOCKS = 5_000
const SETUP_MS = 20_000
const PROBE_MS = 1_000

/** @param parts.folder where the state of the chain and its lock lie, in the data directory */
export function openEmbeddedChain(parts: {
  folder: string
  network: PaymentNetwork
  accounts: SandboxAccounts
  log: Logger
  /** For a node that another gateway noted to answer, in milliseconds. */
  probeMs?: number | undefined
}): EmbeddedChain {
  const { folder, network, accounts, log, probeMs = PROBE_MS } = parts
  const { chainId } = network
  const stateFile = join(folder, `${chainId}.json`)
  const runningFile = join(folder, `${chainId}.running`)
  const funding = {
    usdc: { [accounts.payer.address]: PAYER_USDC },
    gas: accounts.settlers.map(({ address }) => address),
  }
  let own: Anvil | undefined
  let opening: Promise<string> | undefined
  let isClosed = false

  async function withRpc<T>(url: string, deadlineMs: number, work: (rpc: JsonRpc) => Promise<T>): Promise<T> {
    const rpc = createJsonRpc({ network: network.network, url, deadlineMs })
    try {
      return await work(rpc)
    } finally {
      await rpc.close()
    }
  }

  const answers = (url: string) =>
    withRpc(url, probeMs, async (rpc) => Number(await rpc.call('eth_chainId', [])) === chainId).catch(
      () => false,
    )

  async function open(): Promise<string> {
    const release = await takeLock(`${runningFile}.lock`)
    try {
      const before = await readRunning(runningFile)
      if (before && (await isAlive(before.owner)) && (await answers(before.rpcUrl))) return before.rpcUrl
      // Its gateway is gone: it is writing its state, or it was stopped and never will.
      if (before && (await isProcessOf(before.pid, stateFile))) await endProcess(before.pid)
      return await start()
    } finally {
      await release()
    }
  }

  async function start(): Promise<string> {
    const isKept = await exists(stateFile)
    let anvil = await launchAndNote()
    try {
      if (isKept && !(await withRpc(anvil.rpcUrl, SETUP_MS, isPrepared))) {
        // Saved when its setting up was cut short: nobody has paid with it yet.
        await anvil.stop()
        await rm(stateFile, { force: true })
        anvil = await launchAndNote()
      }
      await withRpc(anvil.rpcUrl, SETUP_MS, async (rpc) => {
        if (!(await isPrepared(rpc))) await installUsdc(rpc, network, funding)
        await rpc.batch([...funding.gas.map(giveGas), { method: 'anvil_setLoggingEnabled', params: [false] }])
      })
    } catch (thrown) {
      await anvil.stop()
      throw new AnvilError(`the embedded chain ${chainId} could not be set up`, { cause: thrown })
    }
    own = anvil
    void anvil.ended.then(() => {
      if (own !== anvil) return
      own = undefined
      if (!isClosed) log.warn({ chain: chainId }, 'an embedded chain ended; it is started again when needed')
    })
    return anvil.rpcUrl
  }

  async function launchAndNote(): Promise<Anvil> {
    const anvil = await launch()
    const running: Running = { owner: process.pid, pid: anvil.pid, rpcUrl: anvil.rpcUrl }
    await writeFile(runningFile, JSON.stringify(running), { mode: 0o600 })
    return anvil
  }

  /** Starts with the saved state. A state that cannot be read is put aside: a broken file must not end the sandbox. */
  async function launch(): Promise<Anvil> {
    const args = [
      `--chain-id=${chainId}`,
      '--state',
      stateFile,
      `--state-interval=${SAVE_EVERY_SECONDS}`,
      // Old states are never asked for, and each would be written to disk.
      '--prune-history',
      `--transaction-block-keeper=${KEPT_BLOCKS}`,
    ]
    try {
      return await startAnvil(args, folder, dirname(folder))
    } catch (thrown) {
      if (!(await exists(stateFile)) || !(thrown as AnvilError).hasRun) throw thrown
      await rename(stateFile, `${stateFile}.unreadable`)
      log.error(
        { chain: chainId },
        'the state of an embedded chain cannot be read: it was put aside, balances start anew',
      )
      return startAnvil(args, folder, dirname(folder))
    }
  }

  return {
    rpcUrl() {
      if (isClosed) return Promise.reject(new AnvilError('the embedded chain is closed'))
      if (own) return Promise.resolve(own.rpcUrl)
      opening ??= open().finally(() => (opening = undefined))
      return opening
    },
    async close() {
      isClosed = true
      await opening?.catch(() => {})
      if (!own) return
      await own.stop()
      await rm(runningFile, { force: true })
    },
  }
}

const exists = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  )

async function readRunning(file: string): Promise<Running | undefined> {
  try {
    const { owner, pid, rpcUrl } = JSON.parse(await readFile(file, 'utf8')) as Partial<Running>
    const isRead = typeof owner === 'number' && typeof pid === 'number' && typeof rpcUrl === 'string'
    return isRead && Number.isInteger(owner) && Number.isInteger(pid) ? { owner, pid, rpcUrl } : undefined
  } catch {
    return undefined
  }
}
