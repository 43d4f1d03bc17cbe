// Checks money: who is paid, the chains that prove it, who settles, and whether the settling account can still pay its gas.
// Addresses of nodes are not shown: providers put their keys into them.
import { must } from '../../lib/must.ts'
import type { Hex } from 'ox/Hex'
import { ConfigError } from '../../core/errors.ts'
import type { Config } from '../../core/config.ts'
import { createChainRpc } from '../../payments/adapters/chain-rpc.ts'
import { createHttpUpstream, nameFacilitators } from '../../payments/adapters/http-upstream.ts'
import { proveToken } from '../../payments/adapters/token-proof.ts'
import { readQuantity } from '../../payments/adapters/usdc-abi.ts'
import { createNetworks } from '../../core/networks.ts'
import type { PaymentNetwork } from '../../core/networks.ts'
import { toNamedAssets } from '../chain-variables.ts'
import { listWarnings, readPaymentSetup } from '../payment-settings.ts'
import { EMBEDDED_CHAINS, missingSandboxPackage } from '../../sandbox/packages.ts'
import type { Secret } from '../../lib/secret.ts'
import { type Check, fail, type Finding, ok, warn } from './finding.ts'

const DEADLINE_MS = 5_000
const FEW_SETTLEMENTS = 100n
const DEVELOPMENT_NODE = /^(anvil|hardhat|ganache|ethereumjs)/i

/** Looks at address, settler key, chains and facilitators: whether anybody can pay, and who settles. */
export const checkPayments: Check = async ({ config }) => {
  const findings = listWarnings(config).map((says) =>
    warn('payments', says, 'Until then paid tools answer 503; free tools and credentials work.'),
  )
  let settlers: readonly Secret<string>[] = []
  try {
    settlers = (await readPaymentSetup(config)).settlerKeys
    for (const file of config.settlerKeyFiles) findings.push(ok('settler key', file))
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    for (const problem of thrown.problems)
      findings.push(fail('payments', problem, 'The gateway does not start until this is corrected.'))
  }
  if (config.payTo !== undefined) findings.push(ok('paid to', config.payTo))
  else if (config.mode === 'sandbox') findings.push(ok('paid to', 'an account of the sandbox'))
  findings.push(...checkEmbedded(config))
  const networks = await configuredNetworks(config)
  const ids = nameFacilitators(config.facilitators)
  const settling = config.facilitators.length === 0 ? settlers : []
  for (const found of await Promise.all([
    ...networks.all.map((network) => checkChain(network, config, settling)),
    ...config.facilitators.map((url, i) => checkFacilitator({ url, id: ids[i] }, config)),
  ]))
    findings.push(...found)
  return findings
}

const configuredNetworks = async ({ rpcUrls, paymentAssets }: Config) =>
  createNetworks(Object.keys(rpcUrls).map(Number), await toNamedAssets(paymentAssets))

/** The node of the sandbox, and the chains that it would start. */
function checkEmbedded({ mode, rpcUrls, dataDir }: Config): readonly Finding[] {
  if (mode !== 'sandbox') return []
  if (EMBEDDED_CHAINS.every((chainId) => rpcUrls[chainId] !== undefined)) return []
  const missing = missingSandboxPackage({ rpcUrls, dataDir })
  return [
    missing === undefined
      ? ok('embedded chains', 'started when the first payment needs them')
      : warn('sandbox packages', missing, 'Everything else of the sandbox works without.'),
  ]
}

async function checkChain(
  network: PaymentNetwork,
  { rpcUrls, mode, settlementGas }: Config,
  settlers: readonly Secret<string>[],
): Promise<readonly Finding[]> {
  const check = `chain ${network.chainId}`
  const variable = `GATEWAY_RPC_${network.chainId}`
  const rpc = createChainRpc({
    network,
    rpcUrl: async () => must(rpcUrls[network.chainId], variable),
    now: Date.now,
    deadlineMs: DEADLINE_MS,
  })
  try {
    const accounts = await Promise.all(settlers.map(addressOf))
    const [client, price, ...balances] = await rpc.ask([
      { method: 'web3_clientVersion', params: [] },
      { method: 'eth_gasPrice', params: [] },
      ...accounts.map((account) => ({ method: 'eth_getBalance', params: [account, 'latest'] })),
    ])
    const proof = await proveToken(rpc, network)
    if (!proof.ok) return [fail(check, `${network.name}: ${proof.why}`, `Check ${variable}.`)]
    const token = network.isPinned ? 'USDC is there' : `${proof.name} (${network.asset.address}) is there`
    const findings =
      mode === 'production' && client?.ok && DEVELOPMENT_NODE.test(String(client.result))
        ? [
            fail(
              check,
              'is a development chain: its money is worth nothing',
              `Set ${variable} to a real node.`,
            ),
          ]
        : [ok(check, `${network.name} answers, ${token}`)]
    const gasPrice = price?.ok ? readQuantity(price.result) : undefined
    const costs = gasPrice === undefined ? undefined : settlementGas * (gasPrice > 0n ? gasPrice : 1n)
    for (const [i, account] of accounts.entries()) {
      const balance = balances[i]
      findings.push(judgeGas(account, network, balance?.ok ? readQuantity(balance.result) : undefined, costs))
    }
    return findings
  } catch {
    return [
      fail(
        check,
        `${network.name}: the node ${rpc.state().detail}`,
        `${variable} must be a JSON-RPC endpoint of chain ${network.chainId} that this machine reaches.`,
      ),
    ]
  } finally {
    await rpc.close()
  }
}

/** @param costs of one settlement, in wei, at the price of now */
function judgeGas(
  account: string,
  network: PaymentNetwork,
  balance: bigint | undefined,
  costs: bigint | undefined,
): Finding {
  const check = 'settler gas'
  const where = `${account} on ${network.name}`
  const todo = `Send native coin for gas to ${where}.`
  if (balance === undefined || costs === undefined)
    return warn(check, `${where}: the node does not say`, 'Look at the balance in an explorer.')
  const settlements = balance / costs
  if (settlements === 0n) return fail(check, `${where} cannot pay for a single settlement`, todo)
  return settlements < FEW_SETTLEMENTS
    ? warn(check, `${where} pays for about ${settlements} settlements`, todo)
    : ok(check, where)
}

async function checkFacilitator(
  { url, id }: { readonly url: string; readonly id: string | undefined },
  config: Config,
): Promise<readonly Finding[]> {
  const check = 'facilitator'
  const networks = await configuredNetworks(config)
  const upstream = createHttpUpstream({ url, id, networks, now: Date.now })
  try {
    const { kinds } = await upstream.supported(DEADLINE_MS)
    const taken = networks.all.filter((network) =>
      kinds.some((kind) => kind.scheme === 'exact' && networks.find(kind.network) === network),
    )
    return [
      taken.length > 0
        ? ok(check, `${upstream.id} settles on ${taken.map(({ name }) => name).join(', ')}`)
        : warn(
            check,
            `${upstream.id} settles on no chain that is configured here`,
            'Set GATEWAY_RPC_<chain id> for a chain that it names at /supported, or use another facilitator.',
          ),
    ]
  } catch {
    return [
      fail(
        check,
        `${upstream.id} does not say what it supports`,
        'Check GATEWAY_FACILITATORS: GET /supported below that URL must answer, from this machine.',
      ),
    ]
  } finally {
    await upstream.close()
  }
}

async function addressOf(key: Secret<string>): Promise<string> {
  const [Address, Secp256k1] = await Promise.all([import('ox/Address'), import('ox/Secp256k1')])
  return key.use((privateKey) =>
    Address.fromPublicKey(Secp256k1.getPublicKey({ privateKey: privateKey as Hex }), { checksum: true }),
  )
}
