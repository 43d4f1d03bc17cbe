// One run: what it holds, its private door, its files, the program, and what is said of it at the end.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { egressAttemptsList } from '../../../tools/egress-attempts-list.ts'
import { egressProviders } from '../../../tools/egress-providers.ts'
import { createOutside } from '../../app/proxy-outside.ts'
import type { Config } from '../../core/config.ts'
import { GatewayError } from '../../core/errors.ts'
import { createProxyDoor } from '../../doors/proxy/index.ts'
import type { ProxyAgent, ProxyWatch, UnknownHosts } from '../../doors/proxy/ports.ts'
import { type AddressPolicy, createAddressPolicy } from '../../egress/address.ts'
import { createResolver } from '../../egress/adapters/dns.ts'
import { createRunAuthority } from '../../interception/authority.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Client } from '../client.ts'
import { loginFile } from '../login-file.ts'
import { CAN_PROVE_CALLER, isOfProcess } from './caller.ts'
import { exitCodeOf, runChild, takeEndingSignals } from './child.ts'
import type { DryRun } from './dry-run.ts'
import { findGatewayData, type GatewayData } from './gateway-data.ts'
import type { Holder } from './held.ts'
import { judgedPath, type ProviderPlacements, usualCredential } from './judged-path.ts'
import type { RunPolicy } from './policy.ts'
import { refusalOf } from './refusals.ts'
import { createGatewayRelay } from './relay.ts'
import {
  bubblewrapCommand,
  canTypeIntoTerminal,
  DOORS_FOLDER,
  findBubblewrap,
  findSockets,
  INNER_PORT,
} from './sandbox.ts'
import { seatbeltProfile } from './seatbelt.ts'
import {
  createRunRecord,
  describeRun,
  type RunAttempt,
  type RunAttempts,
  type RunSummary,
} from './summary.ts'
import { openSummaryFile } from './summary-file.ts'
import { makeRunFolder, type RunFolder } from './trust.ts'
import { say } from './words.ts'
import {
  awsVariables,
  childEnvironment,
  javaVariables,
  nodeVariables,
  placeholderVariables,
  proxyVariables,
  type ProviderVariables,
  trustVariables,
} from './variables.ts'

export interface RunParts {
  readonly client: Client
  readonly holder: Holder
  /** Gives up what the holder asks the gateway for. */
  readonly giveUp?: AbortController | undefined
  /** Longest wait for the gateway to list a page of the attempts at the end, and for it to revoke the capabilities: END_MS, but in tests. */
  readonly endMs?: number | undefined
  readonly config: Config
  readonly unknown: UnknownHosts
  /** What the run may call; hosts without a credential are asked about here. */
  readonly policy?: RunPolicy | undefined
  /** Writes down what is called, where the run is one that is only looked at. */
  readonly dryRun?: DryRun | undefined
  readonly isSandboxed: boolean
  /** Where the gateway keeps its data, for a sandbox to hide: a folder, or `none`; found where it is left out. */
  readonly gatewayData?: string | undefined
  /** Files with keys of the gateway, which are out of reach in a sandbox. */
  readonly secretFiles: readonly string[]
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** File for the summary as JSON. */
  readonly summaryFile?: string | undefined
  /** Addresses that hosts without a credential may have: the public internet, but in tests. */
  readonly publicAddresses?: AddressPolicy | undefined
}

/** The program has ended, and somebody may wait for that. */
const END_MS = 10_000

/** @returns the exit code of the program */
export async function runProgram(parts: RunParts): Promise<number> {
  const { client, holder, config, env, endMs = END_MS } = parts
  // Before anything is made: whoever asks for containment gets it, or nothing is started.
  const wrapper = parts.isSandboxed ? await findWrapper() : undefined
  const data =
    wrapper && (await findGatewayData({ url: client.url, dataDir: config.dataDir, named: parts.gatewayData }))
  const summaryFile = parts.summaryFile === undefined ? undefined : await openSummaryFile(parts.summaryFile)
  const authority = createRunAuthority(Date.now)
  const record = createRunRecord()
  const relay = createGatewayRelay(client.url)
  const password = randomBytes(18).toString('base64url')
  // No other user, and no other sandbox, reaches a socket there: the caller is proven.
  const isOpen = wrapper === 'bwrap'
  let providers: readonly KnownProvider[] = []
  const agent = createAgent(parts, relay, record.watch, () => providers)
  const door = createProxyDoor({
    async identify(token, address, port) {
      if (isOpen || (token !== undefined && isSame(token, password))) return agent
      if (token !== undefined) throw new GatewayError('scope_denied', 'This proxy belongs to another run.')
      if (await isOwn(address, port, door)) return agent
      throw new GatewayError(
        'proxy_identity_required',
        'This proxy belongs to one run, whose programs have its password.',
      )
    },
    authority,
    outside: createOutside({
      resolver: createResolver(config.dnsServers),
      policy: parts.publicAddresses ?? createAddressPolicy([]),
      checkHost: async () => ({ ok: true }),
      extraCa: undefined,
    }),
    targets: { ports: config.egressPorts, allowSandboxName: config.mode === 'sandbox' },
    watch: record.watch,
    baseUrl: client.url,
    now: Date.now,
  })
  const ending = takeEndingSignals()
  let folder: RunFolder | undefined
  let doorFolder: string | undefined
  let summary: RunSummary | undefined
  const notes: string[] = []
  try {
    folder = await makeRunFolder(authority.trusted(), env)
    if (isOpen) doorFolder = await mkdtemp(join(DOORS_FOLDER, 'agent-gateway-door-'))
    const socket = doorFolder && join(doorFolder, 'door.sock')
    const proxy = await listen(door, { socket, password })
    providers = await listProviders(client)
    const variables = {
      ...proxyVariables(proxy),
      ...trustVariables(folder),
      ...awsVariables,
      ...nodeVariables(folder, env),
      ...(isOpen || CAN_PROVE_CALLER ? javaVariables(new URL(proxy), folder, env) : {}),
      ...placeholderVariables(providers, holder.providers),
    }
    const childEnv = childEnvironment(env, variables, { isSandboxed: parts.isSandboxed })
    // Where somebody could type into the terminal from inside, the program does not get it.
    const isApart = isOpen && (await canTypeIntoTerminal())
    const command = await wrap(parts, wrapper, folder, { socket, port: new URL(proxy).port, isApart, data })
    const early = ending.early()
    if (early !== undefined) {
      notes.push(`told to end (${early}) before the program was started.`)
      return exitCodeOf(early)
    }
    let isUnsent = false
    const unsent = () => void (isUnsent = true)
    const exitCode = await runChild(command, childEnv, ending, { isTold: isOpen, isApart, unsent })
    if (isUnsent) notes.push('a signal did not reach the program: this user may not send it one.')
    // Answers that nobody reads any more are cut off; what the gateway sent is recorded there.
    await door.close()
    relay.close()
    const enough = () => AbortSignal.any([AbortSignal.timeout(endMs), ending.impatient])
    const attempts = await listAttempts(client, holder, enough)
    summary = record.summarise(exitCode, attempts, parts.dryRun?.seen())
    return exitCode
  } finally {
    // Whoever reads stderr may be gone, or keep this process waiting at each word: everything is taken back, the file is written and signals end
    // this process again before it is spoken of.
    const left = await takeBack({
      'its door is open': async () => {
        await door.close()
        relay.close()
      },
      'its capabilities were not revoked': async () => {
        const bound = setTimeout(() => parts.giveUp?.abort(), endMs)
        const live = await holder.end().finally(() => clearTimeout(bound))
        return live > 0
          ? `${live} of the run's capabilities could not be revoked; nobody holds them, and they end within a day.`
          : undefined
      },
      [`the folder ${folder?.path} is still there`]: async () => folder?.remove(),
      [`the folder ${doorFolder} is still there`]: async () => {
        if (doorFolder !== undefined) await rm(doorFolder, { recursive: true, force: true })
      },
    })
    const writeSummary = async () => {
      const words = summary && (await summaryFile?.write(`${JSON.stringify(summary, null, 2)}\n`))
      if (words !== undefined) left.push(words)
    }
    const isHandedOver = summaryFile?.isHandedOver === true
    if (!isHandedOver) await writeSummary()
    ending.release()
    if (ending.wasIgnored()) notes.push('the program has ended; what it was given is taken back.')
    for (const line of notes) say(`agent-gateway run: ${line}\n`)
    if (summary !== undefined) say(describeRun(summary))
    if (isHandedOver) await writeSummary()
    for (const line of left) say(`agent-gateway run: ${line}\n`)
    await summaryFile?.close().catch(() => {})
  }
}

/**
 * Takes each step, whatever became of those before: the program may have left a folder that cannot be removed, and its exit code counts all the same.
 * @param steps by what is so where one fails
 * @returns what is left, for people
 */
async function takeBack(
  steps: Readonly<Record<string, () => Promise<string | undefined | void>>>,
): Promise<string[]> {
  const left: string[] = []
  for (const [otherwise, step] of Object.entries(steps)) {
    try {
      const words = await step()
      if (words) left.push(words)
    } catch (thrown) {
      left.push(`${otherwise} (${(thrown as NodeJS.ErrnoException).code ?? 'failed'}).`)
    }
  }
  return left
}

function createAgent(
  { holder, unknown, policy, dryRun }: RunParts,
  relay: ReturnType<typeof createGatewayRelay>,
  watch: Pick<ProxyWatch, 'refused'>,
  providers: () => readonly KnownProvider[],
): ProxyAgent {
  const asked = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer
    } catch (thrown) {
      throw refusalOf(thrown)
    }
  }
  return {
    id: 'run',
    unknown,
    covers: (host, port) => asked(holder.covers({ host, port })),
    tunnels: (host, port) => policy?.tunnels({ host, port }) === true,
    async relay(req, res, url, upgrade) {
      const { hostname: host, port } = new URL(url)
      // The spelling of the program goes on, not that of the parser.
      const path = url.slice(url.indexOf('/', 'https://'.length))
      const called = { host, port: Number(port || 443), method: req.method ?? 'GET', path }
      const held = await asked(holder.find(called))
      if (!held)
        throw new GatewayError('scope_denied', 'The gateway gives this run nothing for this host.', {
          reason: 'nothing_held',
        })
      const judged = dryRun && judgedPath(url, held.credential ?? usualCredential(providers(), host))
      if (judged !== undefined) dryRun?.note({ ...called, path: judged })
      const { refused } = await relay.send(req, res, path, held, upgrade)
      if (refused) watch.refused({ agentId: 'run', host, reason: undefined, ...refused })
    },
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** @returns the address of the door, as the program sees it */
async function listen(
  door: ReturnType<typeof createProxyDoor>,
  { socket, password }: { readonly socket: string | undefined; readonly password: string },
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    door.server.once('error', reject)
    if (socket !== undefined) door.server.listen(socket, resolve)
    else door.server.listen(0, '127.0.0.1', resolve)
  })
  if (socket !== undefined) return `http://127.0.0.1:${INNER_PORT}`
  return `http://agent:${password}@127.0.0.1:${(door.server.address() as AddressInfo).port}`
}

/** Programs that send no password, as Java does: the only processes that descend from this one are those of the run. */
const isOwn = async (
  address: string,
  port: number | undefined,
  door: ReturnType<typeof createProxyDoor>,
): Promise<boolean> =>
  port !== undefined &&
  (await isOfProcess({ address, port }, (door.server.address() as AddressInfo).port, process.pid))

const findWrapper = async (): Promise<'bwrap' | 'sandbox-exec'> =>
  process.platform === 'darwin' ? 'sandbox-exec' : ((await findBubblewrap()) as 'bwrap')

/** The command, within whatever contains it. */
async function wrap(
  { config, command, secretFiles, env }: RunParts,
  wrapper: 'bwrap' | 'sandbox-exec' | undefined,
  folder: RunFolder,
  {
    socket = '',
    port,
    isApart,
    data = { folders: [], files: [] },
  }: {
    readonly socket: string | undefined
    readonly port: string
    readonly isApart: boolean
    readonly data: GatewayData | undefined
  },
): Promise<readonly string[]> {
  const hidden = await existing([config.dataDir, dirname(loginFile()), ...data.folders])
  const secrets = await existing([...secretFiles, ...data.files])
  switch (wrapper) {
    case undefined:
      return command
    case 'sandbox-exec':
      return ['sandbox-exec', '-p', seatbeltProfile(Number(port), [...hidden, ...secrets]), ...command]
    case 'bwrap':
      return bubblewrapCommand({
        socket,
        runFolder: folder.path,
        workingDirectory: process.cwd(),
        hidden,
        hiddenFiles: [...secrets, ...(await findSockets(process.cwd(), env))],
        node: process.execPath,
        needsNewSession: isApart,
        command,
      })
  }
}

/**
 * bubblewrap makes what it mounts over; on the machine's own disk it is not to.
 * @returns what is behind the links: whoever hides a link shows what it leads to
 */
async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map((path) => realpath(path).catch(() => [])))
  return found.flat()
}

type KnownProvider = ProviderVariables & ProviderPlacements

async function listProviders(client: Client): Promise<readonly KnownProvider[]> {
  const answer = (await client.call(egressProviders, {}, null)) as {
    providers?: readonly KnownProvider[]
  }
  return answer.providers ?? []
}

/**
 * Asked with each capability itself, which works for operators and agents alike, before it is revoked.
 * @param enough ends the asking for one page, anew for each: the records are at the gateway, and the summary is no place to fail or to wait
 */
async function listAttempts(client: Client, holder: Holder, enough: () => AbortSignal): Promise<RunAttempts> {
  const lists = await Promise.all(holder.made().map(({ token }) => listAttemptsOf(client, token, enough)))
  return {
    attempts: lists.flatMap(({ attempts }) => attempts),
    isWhole: lists.every(({ isWhole }) => isWhole),
  }
}

async function listAttemptsOf(
  client: Client,
  token: Secret<string>,
  enough: () => AbortSignal,
): Promise<RunAttempts> {
  const attempts: RunAttempt[] = []
  let before: string | undefined
  try {
    do {
      const page = await client.call(
        egressAttemptsList,
        { limit: 100, ...(before === undefined ? {} : { before }) },
        token,
        enough(),
      )
      for (const { attempt_id, host, state, credits_charged, receipt_id } of page.attempts)
        attempts.push({ attempt_id, host, state, credits_charged, receipt_id })
      before = page.next ?? undefined
    } while (before !== undefined)
    return { attempts, isWhole: true }
  } catch {
    return { attempts, isWhole: false }
  }
}
