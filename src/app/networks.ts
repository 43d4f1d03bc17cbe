// Opens the networks that payments are taken on. A token that its chain shows to be another than it must be stops the start, before
// anything listens; a chain that is away does not, and nothing is taken on it until it has proven its token.
import type { Config } from '../core/config.ts'
import { ConfigError } from '../core/errors.ts'
import { createNetworks, type Networks, type PaymentNetwork } from '../core/networks.ts'
import type { Logger } from '../lib/log.ts'
import { must } from '../lib/must.ts'
import { createChainRpc } from '../payments/adapters/chain-rpc.ts'
import { proveToken } from '../payments/adapters/token-proof.ts'
import { createTokenProofs, type TokenProofs } from '../payments/token-proofs.ts'
import { EMBEDDED_CHAINS } from '../sandbox/packages.ts'
import { toNamedAssets } from './chain-variables.ts'
import type { Lifetime } from './lifetime.ts'

export interface OpenNetworks extends Pick<TokenProofs, 'recheck'> {
  readonly networks: Networks
}

/** @throws {ConfigError} naming every token that is not what it must be */
export async function openNetworks(
  config: Pick<Config, 'mode' | 'rpcUrls' | 'paymentAssets'>,
  { log, now }: { readonly log: Logger; readonly now: () => number },
  lifetime: Lifetime,
): Promise<OpenNetworks> {
  const { mode, rpcUrls, paymentAssets } = config
  const configured = Object.keys(rpcUrls).map(Number)
  const chainIds = [...configured, ...(mode === 'sandbox' ? EMBEDDED_CHAINS : [])]
  const networks = createNetworks(chainIds, await toNamedAssets(paymentAssets))
  // The sandbox puts the code of the token on its own chains itself, when the first payment needs them.
  const asked = networks.all.filter(({ chainId }) => configured.includes(chainId))
  const rpcs = new Map(
    asked.map((network) => {
      const rpcUrl = async () => must(rpcUrls[network.chainId], 'the endpoint of a configured chain')
      return [network.network, createChainRpc({ network, rpcUrl, now })]
    }),
  )
  lifetime.onClose(async () => {
    await Promise.all([...rpcs.values()].map((rpc) => rpc.close()))
  })
  const proofs = createTokenProofs({
    networks,
    asked: [...rpcs.keys()],
    prove: (network) =>
      proveToken(must(rpcs.get(network.network), 'the node of a configured chain'), network),
    log,
  })
  lifetime.onClose(() => proofs.close())
  const problems = await proofs.start()
  if (problems.length > 0)
    throw new ConfigError(problems.map(({ network, why }) => `${variableOf(network)}: ${why}`))
  return { networks, recheck: proofs.recheck }
}

const variableOf = ({ chainId, isPinned }: PaymentNetwork) =>
  isPinned ? `GATEWAY_RPC_${chainId}` : `GATEWAY_PAYMENT_ASSETS (chain ${chainId})`
