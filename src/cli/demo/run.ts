// The demo itself; loaded when asked for, because signing code is heavy.
import { readFile } from 'node:fs/promises'
import { must } from '../../lib/must.ts'
import { formatAtomic } from '../../../schemas/money.ts'
import { creditsPurchase } from '../../../tools/credits-purchase.ts'
import { tools } from '../../../tools/index.ts'
import { operatorKeyFile } from '../../app/bootstrap.ts'
import { loadConfig } from '../../app/config.ts'
import type { Config } from '../../core/config.ts'
import { createLogger } from '../../lib/log.ts'
import { createNetworks } from '../../core/networks.ts'
import { JWS_TYPES, verifyJws } from '../../receipts/types.ts'
import type { AnyTool, RestRoute, Sold } from '../../core/registry.ts'
import { AnvilError } from '../../sandbox/anvil.ts'
import { openSandboxChains, type SandboxChains } from '../../sandbox/chains.ts'
import { type Client, connect } from '../client.ts'
import { startEmbeddedSandbox } from '../embedded.ts'
import { CommandFailure, Exit } from '../exit.ts'
import type { ConnectionOptions } from '../options.ts'
import { printJson, printLine, printTable } from '../output.ts'
import { ensureSandboxPackages } from '../sandbox.ts'
import { findRunning } from '../../app/running.ts'
import { balancesOf } from './balances.ts'
import { type MarketStep, sellAndBuy } from './market.ts'
import { type Buyer, createBuyer } from './pay.ts'
import { usePermit } from './permit.ts'

const SAMPLE_PAGE = 'https://sandbox.agent-gateway.test/article'
const KEYS_PATH = '/.well-known/gateway-egress-key.json'

/** One paid call as it went. */
interface Step {
  readonly tool: string
  /** The name of what was bought, e.g. `Web extraction`. */
  readonly bought: string
  readonly path: string
  readonly network: string
  readonly paid: string
  readonly transaction: string
  readonly receipt: string
  readonly verifies: boolean
}

/**
 * Runs the demo and prints it. @throws {CommandFailure} where a receipt does not verify, or the gateway is one of production
 */
export async function demo(options: ConnectionOptions): Promise<void> {
  const config = loadConfig(process.env)
  if (config.mode === 'production')
    throw new CommandFailure(
      Exit.usage,
      'demo pays with test money and needs a sandbox (GATEWAY_MODE=sandbox).',
    )
  const isRunning = options.url !== undefined || (await findRunning(config.dataDir)) !== undefined
  if (!isRunning) await ensureSandboxPackages(process.env)
  const here = isRunning ? undefined : await startEmbeddedSandbox(config)
  try {
    await runDemo(here?.config ?? config, here ? { ...options, url: here.url } : options)
  } finally {
    await here?.close()
  }
}

async function runDemo(config: Config, options: ConnectionOptions): Promise<void> {
  const gateway = await connect(options)
  // Lists what the facilitator takes, which is also what starts the chains.
  await gateway.get('/supported')
  const chains = await openSandboxChains({
    dataDir: config.dataDir,
    log: createLogger(config.logLevel),
    now: Date.now,
  })
  try {
    await payForEverything(config, gateway, chains, options)
  } catch (thrown) {
    // Its words say what to install.
    if (thrown instanceof AnvilError) throw new CommandFailure(Exit.failed, `${thrown.message}.`)
    throw thrown
  } finally {
    await chains.close()
  }
}

async function payForEverything(
  config: Config,
  gateway: Client,
  chains: SandboxChains,
  options: ConnectionOptions,
): Promise<void> {
  const keys = (await gateway.get(KEYS_PATH)) as { keys: object[] }
  const buyer = createBuyer(chains.payer.privateKey)
  const say = (line: string) => {
    if (!options.json) printLine(line)
  }

  say(`SANDBOX at ${gateway.url}: test money only. Payer ${buyer.address}, paid to ${chains.payTo}.\n`)
  const networks = createNetworks(chains.chainIds).all
  const before = await balancesOf(chains, networks)
  const steps: Step[] = []
  for (const purchase of purchases()) {
    const step = await payFor(purchase, { url: gateway.url, buyer, keys, config })
    steps.push(step)
    say(purchase.name)
    say(`  402, paid ${step.paid} USDC on ${step.network}, transaction ${step.transaction}`)
    say(`  receipt ${step.receipt} ${step.verifies ? 'verifies' : 'DOES NOT VERIFY'}\n`)
  }
  const { jws, ...used } = await usePermit(gateway)
  const permit = { ...used, verifies: (await verifyJws(jws, keys, JWS_TYPES.receipt)).ok }
  say('A permit for one request (gateway.actions.prepare, gateway.actions.execute)')
  say(
    `  ${permit.permit} executed by ${permit.attempt}: the site answered ${permit.status}, ${permit.credits} credit`,
  )
  say(`  receipt ${permit.receipt} ${permit.verifies ? 'verifies' : 'DOES NOT VERIFY'}`)
  say(`  sent again: 409 ${permit.repeated.code}, naming ${permit.repeated.attempt}\n`)
  const market = await sellAndBuy(gateway, buyer)
  sayMarket(market, say)
  const after = await balancesOf(chains, networks)
  const rows = before.map(({ network, who, atomic }, index) => {
    const now = must(after[index], 'the balance after the payments').atomic
    return {
      network,
      who,
      before: formatAtomic(atomic),
      after: formatAtomic(now),
      change: signed(now - atomic),
    }
  })
  if (options.json)
    printJson({ url: gateway.url, steps, permit, market: shownMarket(market), balances: rows })
  else printTable(rows, ['network', 'who', 'before', 'after', 'change'], '')
  const broken = [...steps, permit, market].filter(({ verifies }) => !verifies)
  if (broken.length > 0)
    throw new CommandFailure(
      Exit.failed,
      `${broken.length} receipts do not verify. Run \`agent-gateway doctor\`: it compares the keys.`,
    )
}

function sayMarket(
  { seller, service, path, paid, payout, verifies }: MarketStep,
  say: (line: string) => void,
) {
  say(`The market: ${seller}/${service}, brought from its OpenAPI document and approved`)
  say(`  GET ${path}: 402, paid ${formatAtomic(paid)} USDC`)
  say(
    `  its seller was paid ${formatAtomic(payout.amount)} USDC at ${payout.to}, transaction ${payout.transaction}`,
  )
  say(`  payouts ${verifies ? 'verify' : 'DO NOT VERIFY'}\n`)
}

const shownMarket = ({ paid, payout, ...step }: MarketStep) => ({
  ...step,
  paid: formatAtomic(paid),
  payout: { ...payout, amount: formatAtomic(payout.amount) },
})

const signed = (atomic: bigint) => (atomic < 0n ? `-${formatAtomic(-atomic)}` : `+${formatAtomic(atomic)}`)

interface Purchase {
  readonly tool: AnyTool
  readonly route: RestRoute
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** The purchases come from the registry: a tool that is added is paid here without another word. */
const purchases = (): Purchase[] =>
  tools.flatMap((tool) =>
    tool.rest
      .filter(({ isRaw }) => isRaw !== true)
      .flatMap((route) => soldBy(tool).map(({ name, input }) => ({ tool, route, name, input }))),
  )

function soldBy({ sold, price, title, examples }: AnyTool): readonly Pick<Sold, 'name' | 'input'>[] {
  if (sold) return sold
  if (price.kind !== 'x402') return []
  const example = must(examples[0], 'an example of a paid tool').input as Sold['input']
  // The example's page is on the internet; the sandbox has one of its own.
  return [{ name: title, input: 'url' in example ? { ...example, url: SAMPLE_PAGE } : example }]
}

async function payFor(
  { tool, route, name, input }: Purchase,
  context: { url: string; buyer: Buyer; keys: { keys: object[] }; config: Config },
): Promise<Step> {
  const paid = await context.buyer.pay({
    method: 'POST',
    url: `${context.url}${route.path}`,
    headers: tool.name === creditsPurchase.name ? await operatorHeader(context.config) : {},
    body: JSON.stringify(input),
  })
  const receipt = paid.body['receipt'] as { receipt_id: string; jws: string }
  const verdict = await verifyJws(receipt.jws, context.keys, JWS_TYPES.receipt)
  return {
    tool: tool.name,
    bought: name,
    path: route.path,
    network: paid.network,
    paid: formatAtomic(paid.amountAtomic),
    transaction: String(paid.settlement['transaction']),
    receipt: receipt.receipt_id,
    verifies: verdict.ok,
  }
}

/** Credits go to the account of the operator, whose key is on this machine. */
async function operatorHeader(config: Config): Promise<Record<string, string>> {
  const key = config.operatorKey ?? (await readFile(operatorKeyFile(config.dataDir), 'utf8')).trim()
  return { authorization: `Bearer ${key}` }
}
