// The variables as docs/configuration.md lists them.
import { KNOWN_CHAIN_IDS } from '../core/networks.ts'
import { Environment } from './variables.ts'

/** One row of docs/configuration.md, in Markdown. */
export interface ConfigurationVariable {
  readonly name: string
  readonly default: string
  readonly description: string
}

/** Every variable that the gateway reads, in the order of the schema; hooks of tests are left out. */
export function configurationVariables(): ConfigurationVariable[] {
  const listed = Object.entries(Environment.shape).flatMap(([name, schema]) => {
    const { testHook, shownDefault, description = '' } = schema.meta() ?? {}
    if (testHook === true) return []
    return { name, default: String(shownDefault ?? defaultInWords(schema.parse(undefined))), description }
  })
  return [...listed, ...OTHER_VARIABLES]
}

const defaultInWords = (value: unknown): string =>
  Array.isArray(value) ? 'none' : `\`${typeof value === 'boolean' ? Number(value) : String(value)}\``

/** The schema holds neither: one has any number of names, the other is read by Node itself. */
const OTHER_VARIABLES: readonly ConfigurationVariable[] = [
  {
    name: 'GATEWAY_RPC_<chain id>',
    default: 'chains of the sandbox',
    description:
      'JSON-RPC endpoint of a chain, for settling and for proof on chain: `GATEWAY_RPC_8453`, `GATEWAY_RPC_84532`. USDC is known ' +
      `on ${KNOWN_CHAIN_IDS.join(', ')}; other chains need an entry in \`GATEWAY_PAYMENT_ASSETS\``,
  },
  {
    name: 'NODE_EXTRA_CA_CERTS',
    default: 'unset',
    description: 'File with further authorities for outbound TLS',
  },
]
