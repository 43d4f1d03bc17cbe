import { z } from 'zod'
import { GatewayError } from '../src/core/errors.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

interface Preset {
  readonly id: string
  readonly name: string
  readonly category: string
  readonly hosts: readonly string[]
}

/** All of them in full are 13,000 tokens. */
const indexOf = ({ providers, ...presets }: Readonly<Record<string, unknown>>) => ({
  ...presets,
  details: 'Send {"provider": id} for headers, scheme, denied paths and an example of one.',
  providers: (providers as readonly Preset[]).map(({ id, name, category, hosts }) => ({
    id,
    name,
    category,
    hosts,
  })),
})

export const egressProviders = defineTool({
  name: 'gateway.egress.providers',
  toolset: 'egress',
  title: 'Providers with presets',
  summary:
    'The upstream providers the gateway knows: host, header and scheme of their credentials, and whether they honour ' +
    'an Idempotency-Key. Use `custom` for any other HTTPS API.',
  brief: 'Known providers; `custom` is any other HTTPS API.',
  input: z.strictObject({
    provider: z.string().min(1).max(64).optional().describe('One, with everything'),
  }),
  output: z.looseObject({}),
  inMessages: {
    output: z.looseObject({}),
    from: (presets, { provider }) => (provider === undefined ? indexOf(presets) : presets),
  },
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/egress/providers', operationId: 'egressProviders' },
  errors: ['not_found'],
  examples: [
    { title: 'Every provider', input: {} },
    { title: 'One of them', input: { provider: 'github' } },
  ],
  handle: async function egressProviders({ provider }, { documents }) {
    const { providers, ...presets } = documents.egressProviders()
    const all = providers as readonly Preset[]
    const shown = provider === undefined ? all : all.filter(({ id }) => id === provider)
    if (shown.length === 0)
      throw new GatewayError(
        'not_found',
        'No provider has this id. Leave `provider` out for the list of all.',
      )
    return { ...presets, providers: shown }
  },
})
