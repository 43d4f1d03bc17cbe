// Which money's figures a page shows: test money in a sandbox, where there is no other, else what an address asks for.
import { MarketNetwork } from '../../../../../schemas/market.ts'
import type { Config } from '../../../../core/config.ts'

export const usualNetwork = ({ mode }: Pick<Config, 'mode'>): MarketNetwork =>
  mode === 'sandbox' ? 'eip155:84532' : 'eip155:8453'

/** The network that an address asks for; the usual one where it asks for none that there is. */
export const askedNetwork = (params: URLSearchParams, config: Pick<Config, 'mode'>): MarketNetwork =>
  MarketNetwork.safeParse(params.get('network')).data ?? usualNetwork(config)

export const otherNetwork = (network: MarketNetwork): MarketNetwork =>
  network === 'eip155:8453' ? 'eip155:84532' : 'eip155:8453'
